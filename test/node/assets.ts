// Before the tests: the assets, as wrangler's build makes them.
import build from '../../src/tools/build.ts';

export default () => build();
