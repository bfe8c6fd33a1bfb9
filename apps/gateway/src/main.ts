// `node apps/gateway/src/main.ts` is the same as `svc-gateway start`.

import { useCompileCache } from '@svc/http-service/run'
import { run } from './bin/start.ts'

useCompileCache()
await run()
