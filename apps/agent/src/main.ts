// The agent service as operators run it: `npx svc-agent`, configured by the environment.

import { importBundled } from '@svc/service/program/bundle'

await importBundled(new URL('./start.ts', import.meta.url))
