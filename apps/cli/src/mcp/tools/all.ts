import { explain } from '../explain/explain.ts'
import { publicLink, revokeUrls } from './access.ts'
import { agentStatus } from './agent-status.ts'
import { attest } from './attest.ts'
import { bundle } from './bundle.ts'
import { buy } from './buy.ts'
import { delegate, endDelegation } from './delegations.ts'
import { deleteFile } from './delete-file.ts'
import { getLink } from './get-link.ts'
import { listFiles } from './list-files.ts'
import { listLockers } from './list-lockers.ts'
import { purchaseStatus } from './purchase-status.ts'
import { putFile } from './put-file.ts'
import { quote } from './quote.ts'
import { readFile } from './read-file.ts'
import { renewLocker } from './renew-locker.ts'
import { subscribe } from './subscribe.ts'
import type { Tool } from './tool.ts'
import { verify } from './verify.ts'
import { writeText } from './write-text.ts'

export const TOOLS: readonly Tool[] = [
  quote,
  buy,
  renewLocker,
  purchaseStatus,
  listLockers,
  putFile,
  writeText,
  listFiles,
  readFile,
  deleteFile,
  getLink,
  publicLink,
  revokeUrls,
  attest,
  bundle,
  verify,
  explain,
  agentStatus,
  subscribe,
  delegate,
  endDelegation,
]
