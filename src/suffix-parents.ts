// Names with public suffixes below them. npm run generate writes this file from the list in tldts.

/** Each line contains a suffix, followed by the labels that can precede it. */
const NAMES = `.af-south-1.amazonaws.com aws-cloud9 cloud9 dualstack
.amazonaws.com af-south-1 airflow ap-east-1 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1 rds s3-global sa-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-west-1 us-west-2
.amazonaws.com.cn airflow cn-north-1 cn-northwest-1 eb
.amazoncognito.com af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1 mx-central-1 sa-east-1 us-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-west-1 us-west-2
.amazonlightsail.com cs
.amazonwebservices.com.cn on
.amazonwebservices.eu on
.ap-east-1.amazonaws.com aws-cloud9 cloud9 dualstack
.ap-northeast-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.ap-northeast-2.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.ap-northeast-3.amazonaws.com aws-cloud9 cloud9 dualstack
.ap-south-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.ap-south-2.amazonaws.com bedrock-agentcore dualstack
.ap-southeast-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.ap-southeast-2.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.ap-southeast-3.amazonaws.com dualstack
.ap-southeast-4.amazonaws.com dualstack
.ap-southeast-5.amazonaws.com bedrock-agentcore dualstack
.ap-southeast-7.amazonaws.com bedrock-agentcore
.app evervault railway
.aruba.jenv-aruba.cloud eur
.at funkfeuer ortsinfo
.atlassian-dev.net prod
.aws on repost sagemaker
.ba brendly
.be interhostsolutions kuleuven
.bot grok
.ca-central-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.ca-west-1.amazonaws.com dualstack
.camp emf
.casa nabu
.cc spawn
.cdn77-secure.org origin
.ch cloudscale flow objectstorage
.cloud axarnet encoway jelastic jenv-aruba k2 onstackit reclaim scw trendhosting
.cloudscale.ch lpg rma
.cn canvasite quickconnect
.cn-north-1.amazonaws.com.cn dualstack
.cn-northwest-1.amazonaws.com.cn dualstack
.co rdpa
.co.uk layershift retrosnub
.code-builder-stg.platform.salesforce.com test
.com amazonaws amazoncognito clever-cloud code databricksapps datadetect emergentagent evennode fbsbx fin-ncloudstorage gov-ncloudstorage hosted-by-previder hosteur ik-server jelastic linode linodeusercontent massivegrid mythic-beasts ncloud ncloudstorage ncpstorage nospamproxy observableusercontent prgmr project-study render salesforce tb-hosting typeform wafaicloud wiardweb
.com.au cloudlets
.com.cn amazonaws amazonwebservices sagemaker
.com.cy scaleforce
.cz contentproxy9 metacentrum muni
.de cosidns hs-heilbronn speedpartner
.dev crm evervault localcert storage storageapi
.edu rit
.email tawk tawkto
.eu amazonwebservices dogado
.eu-central-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.eu-central-2.amazonaws.com dualstack
.eu-north-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.eu-south-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.eu-south-2.amazonaws.com bedrock-agentcore dualstack
.eu-west-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.eu-west-2.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.eu-west-3.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.eus party
.eusc-de-east-1.on.amazonwebservices.eu cognito-idp
.fastly.net prod ssl
.fedoraproject.org os stg
.fi cloudplatform
.fin-ncloudstorage.com object private
.flow.ch ae
.gg ply
.gov-ncloudstorage.com object private
.host amba
.hr brendly
.hs-heilbronn.de it
.il-central-1.amazonaws.com aws-cloud9 cloud9 dualstack
.io beebyte beebyteapp bubble dappnode forgerock lair nodeart rb-hosting resinstaging scrypted thingdust
.it neen
.jenv-aruba.cloud aruba
.jp sakurastorage webaccel
.k2.cloud ru-msk ru-spb
.link nftstorage storacha w3s
.massivegrid.net paas
.me hooc transip
.me-central-1.amazonaws.com dualstack
.me-south-1.amazonaws.com aws-cloud9 cloud9 dualstack
.muni.cz cloud
.name her his
.ncloud.com objectstorage
.ncloudstorage.com object private website
.ncpstorage.com object private
.ne.jp aseinet
.net atlassian-dev cdn77 cloudflareanycast cloudflarecn cloudflareglobal elastx fastly hrsn massivegrid mynetname ovh saveincloud scaleforce srcf usgovcloudapi windows
.no akershus buskerud hedmark hordaland more-og-romsdal nordland ostfold telemark vestfold xn--mre-og-romsdal-qqb xn--stfold-9xa
.object.ncpstorage.com jp4 jp5
.object.private.ncpstorage.com jp4 jp5
.on.amazonwebservices.com.cn cn-north-1 cn-northwest-1
.on.amazonwebservices.eu eusc-de-east-1
.on.aws af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1 mx-central-1 sa-east-1 us-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-west-1 us-west-2
.org cdn77-secure cdn77 fedoraproject teckids
.platform.salesforce.com code-builder-stg
.private.fin-ncloudstorage.com object
.private.gov-ncloudstorage.com object
.private.ncloudstorage.com object
.private.ncpstorage.com object
.rs brendly
.ru cldmail
.ruhr-uni-bochum.de noc
.s3-global.amazonaws.com accesspoint
.sa-east-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.sagemaker.aws af-south-1 ap-east-1 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1 sa-east-1 us-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-west-1 us-west-2
.sagemaker.com.cn cn-north-1 cn-northwest-1
.sakurastorage.jp isk01 isk02
.salesforce.com platform
.scw.cloud baremetal fr-par instances nl-ams pl-waw
.sh platform
.site canva
.stg.fedoraproject.org os
.thingdust.io dev disrec prod testing
.to quickconnect
.tools addr
.us databricksapps enscaled
.us-east-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.us-east-2.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.us-gov-east-1.amazonaws.com dualstack
.us-gov-west-1.amazonaws.com bedrock-agentcore dualstack
.us-west-1.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.us-west-2.amazonaws.com aws-cloud9 bedrock-agentcore cloud9 dualstack
.usgovcloudapi.net core
.vps-host.net jelastic
.windows.net core`;

export const SUFFIX_PARENTS: ReadonlySet<string> = new Set(
  NAMES.split('\n').flatMap((line) => {
    const [end, ...beginnings] = line.split(' ');
    return beginnings.map((beginning) => beginning + end);
  }),
);
