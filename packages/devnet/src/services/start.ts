// `npm start`.

import { importBundled } from '@svc/service/program/bundle'

await importBundled(new URL('./start-all.ts', import.meta.url))
