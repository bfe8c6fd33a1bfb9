// `node apps/gateway/src/main.ts` is the same as `svc-gateway start`.

import { importBundled } from '@svc/service/program/bundle'

const { run } = await importBundled<typeof import('./bin/start.ts')>(new URL('./bin/start.ts', import.meta.url))
await run()
