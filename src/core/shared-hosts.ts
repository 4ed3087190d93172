// Hosts below which strangers own names: hosting, previews and tunnels, builders of sites and shops, blogs, and desks for customers. The
// public suffix list has only those whose owners asked for it. The console checks only this list, because the other is larger than its code.

/** `*.` stands for any name, such as a region, below which strangers own names. */
export const SHARED_HOSTS: readonly string[] = `
amplifyapp.com azurestaticapps.net azurewebsites.net base44.app bubbleapps.io cloudfront.net deno.dev firebaseapp.com fly.dev github.io
gitlab.io glitch.me gradio.live herokuapp.com hf.space koyeb.app lovable.app lovableproject.com netlify.app onrender.com pages.dev
replit.app run.app softr.app streamlit.app surge.sh up.railway.app vercel.app web.app workers.dev *.azurecontainerapps.io

a.free.pinggy.link a.pinggy.link app.github.dev codesandbox.io csb.app lhr.life loca.lt localtunnel.me ngrok-free.app ngrok-free.dev
ngrok.app ngrok.dev ngrok.io nip.io repl.co replit.dev serveo.net sslip.io stackblitz.io trycloudflare.com ts.net
*.cloudworkstations.dev *.devtunnels.ms *.gitpod.io *.webcontainer.io

000webhostapp.com altervista.org carrd.co company.site framer.app framer.website glide.page godaddysites.com hostingersite.com
infinityfreeapp.com jimdo.com jimdofree.com jimdosite.com kinsta.cloud kinsta.page mystrikingly.com neocities.org notion.site site123.me
square.site squarespace.com strikingly.com tiiny.site tilda.ws tripod.com ucraft.net unbouncepages.com webflow.io webnode.com
webnode.page weebly.com weeblysite.com wixsite.com wixstudio.com wordpress.com wpcomstaging.com wpengine.com yolasite.com

base.shop bigcartel.com mitiendanube.com mybigcommerce.com myshopify.com myshopline.com myvtex.com official.ec shopinfo.jp
shoplineapp.com storenvy.com stores.jp thebase.in vtexcommercestable.com.br

blogspot.com ghost.io hashnode.dev hatenablog.com itch.io livejournal.com medium.com substack.com tistory.com tumblr.com typepad.com

atlassian.net freshdesk.com gitbook.io hs-sites.com hubspotpagebuilder.com my.salesforce-sites.com my.site.com mykajabi.com
readthedocs.io systeme.io teachable.com thinkific.com zendesk.com
`
  .trim()
  .split(/\s+/);

/** Returns whether a host is shared, or has a shared host below it. */
export function isSharedHost(host: string): boolean {
  const anyName = host.replace(/^[^.]+/, '*');
  return SHARED_HOSTS.some((name) => name === anyName || `.${name}`.endsWith(`.${host}`));
}
