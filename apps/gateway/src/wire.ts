// The modules of the gateway, from the lowest up: the state of each, and its routes.

import type { Service } from '@svc/service/http/service'
import { httpRoutes } from './adapters/http/routes.ts'
import { openHttp } from './adapters/http/state.ts'
import { credentialRoutes } from './adapters/s3/credentials/routes.ts'
import { s3Routes } from './adapters/s3/routes.ts'
import { openS3 } from './adapters/s3/state.ts'
import { tusRoutes } from './adapters/tus/routes.ts'
import { openTus } from './adapters/tus/state.ts'
import { openAuth } from './auth/auth.ts'
import type { Secrets } from './config.ts'
import type { Context, Tools } from './context.ts'
import { openAttestations } from './evidence/state.ts'
import { fileRoutes } from './files/routes.ts'
import { openFiles } from './files/state.ts'
import { openPages } from './pages/state.ts'
import { logRoutes } from './publication/log/routes.ts'
import { openLog } from './publication/log/state.ts'
import { publicationRoutes } from './publication/routes.ts'
import { openPublication } from './publication/state.ts'
import { purchaseRoutes } from './purchases/routes.ts'
import { openPurchases } from './purchases/state.ts'
import { operationRoutes } from './views/admin/routes.ts'
import { evidenceRoutes } from './views/evidence/routes.ts'
import { openEvidence } from './views/evidence/state.ts'
import { lockerRoutes } from './views/lockers/routes.ts'
import { pageRoutes } from './views/pages/routes.ts'
import { viewRoutes } from './views/routes.ts'
import { shareViewRoutes } from './views/shares/routes.ts'
import { openViews } from './views/state.ts'

type Open = (context: Context, secrets: Secrets) => object | Promise<object>

/** Each module can use the state of those before it. */
const MODULES: readonly Open[] = [
  openAuth,
  openPages,
  openPurchases,
  openFiles,
  openHttp,
  openS3,
  openTus,
  openPublication,
  openAttestations,
  openLog,
  openEvidence,
  openViews,
]

export async function openModules(tools: Tools, secrets: Secrets): Promise<Context> {
  const context = tools as Context // complete after the loop
  for (const open of MODULES) Object.assign(context, await open(context, secrets))
  return context
}

const ROUTES: readonly ((service: Service, context: Context) => void)[] = [
  viewRoutes,
  pageRoutes,
  purchaseRoutes,
  lockerRoutes,
  fileRoutes,
  httpRoutes,
  s3Routes,
  credentialRoutes,
  tusRoutes,
  publicationRoutes,
  logRoutes,
  evidenceRoutes,
  shareViewRoutes,
  operationRoutes,
]

export function addRoutes(service: Service, context: Context): void {
  for (const add of ROUTES) add(service, context)
}
