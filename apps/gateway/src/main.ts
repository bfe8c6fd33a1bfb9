// `node apps/gateway/src/main.ts` is the same as `svc-gateway start`.

import { rememberCompiled } from '@svc/http-service/remember-compiled'
import { run } from './bin/start.ts'

rememberCompiled()
await run()
