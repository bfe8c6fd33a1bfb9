// `npm start`.

import { importBundled } from '@svc/http-service/bundle'

await importBundled(new URL('./start-all.ts', import.meta.url))
