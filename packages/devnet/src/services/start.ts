// `npm start`: bundles what it starts and the command line, then starts.

import { importBundled } from '@svc/service/program/bundle'
import { bundlePrograms } from '../bundling/bundle-programs.ts'

const services = new URL('./start-all.ts', import.meta.url)
bundlePrograms([services, new URL('../../../../apps/cli/src/bin/svc.ts', import.meta.url)])
await importBundled(services)
