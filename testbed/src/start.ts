// `npm start`: what there is to load is remembered compiled, so that the next start takes half the time.

import { useCompileCache } from '@svc/http-service/run'

useCompileCache()
await import('./start-all.ts')
