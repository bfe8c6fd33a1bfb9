// `npm start`. A compile cache halves the time of the next start.

import { useCompileCache } from '@svc/http-service/run'

useCompileCache()
await import('./start-all.ts')
