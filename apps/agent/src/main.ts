// The entry point of the agent service: `npx svc-agent`, configured by environment variables.

import { importBundled } from '@svc/service/program/bundle'

await importBundled(new URL('./start.ts', import.meta.url))
