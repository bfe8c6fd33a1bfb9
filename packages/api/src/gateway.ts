// All endpoints of the gateway.

import * as access from './access.ts'
import * as activity from './activity.ts'
import * as attestations from './attestations.ts'
import * as confirmFiles from './confirm-files.ts'
import * as dsse from './dsse.ts'
import { endpointsOf } from './endpoint.ts'
import * as errorPages from './error-pages.ts'
import * as evidence from './evidence.ts'
import * as files from './files.ts'
import * as info from './info.ts'
import * as internal from './internal.ts'
import * as internalAttestations from './internal-attestations.ts'
import * as lockers from './lockers.ts'
import * as log from './log.ts'
import * as operations from './operations.ts'
import * as payment from './payment.ts'
import * as proofs from './proofs.ts'
import * as purchases from './purchases.ts'
import * as receipts from './receipts.ts'
import * as s3Credentials from './s3-credentials.ts'
import * as shares from './shares.ts'
import * as sponsored from './sponsored.ts'
import * as transfers from './transfers.ts'
import * as tus from './tus.ts'
import * as uploadSessions from './upload-sessions.ts'
import * as usage from './usage.ts'
import * as x402 from './x402.ts'

export const gatewayEndpoints = endpointsOf([
  info,
  errorPages,
  purchases,
  payment,
  receipts,
  sponsored,
  lockers,
  access,
  activity,
  usage,
  files,
  confirmFiles,
  transfers,
  shares,
  uploadSessions,
  s3Credentials,
  tus,
  attestations,
  evidence,
  proofs,
  log,
  dsse,
  internalAttestations,
  internal,
  operations,
  x402,
])
