// `npm start`: what there is to load is remembered compiled, so that the next start takes half the time.

import { rememberCompiled } from '@svc/http-service/compile-cache'

rememberCompiled()
await import('./start-all.ts')
