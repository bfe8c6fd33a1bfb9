// Which calls may be made again when nobody knows whether the first one arrived.

import * as delegations from '@svc/api/agent/delegations'
import * as subscriptions from '@svc/api/agent/subscriptions'
import * as attestations from '@svc/api/attestations'
import * as confirmFiles from '@svc/api/confirm-files'
import type { Endpoint } from '@svc/api/endpoint'
import * as evidence from '@svc/api/evidence'
import * as files from '@svc/api/files'
import * as lockers from '@svc/api/lockers'
import * as purchases from '@svc/api/purchases'
import * as sponsored from '@svc/api/sponsored'
import * as uploadSessions from '@svc/api/upload-sessions'
import type { AnyInput } from './input.ts'

/** Those whose second time finds what the first one did. Of a session opened twice, one stays unused and ends by itself. */
const POSTS = new Set<string>(
  [
    purchases.confirmStorage,
    sponsored.sponsoredConfirm,
    sponsored.sponsoredConfirmBatch,
    lockers.signedProvision,
    lockers.provision,
    lockers.refresh,
    lockers.addOperator,
    files.fileUrls,
    confirmFiles.confirmFile,
    confirmFiles.confirmFiles,
    uploadSessions.openUploadSession,
    uploadSessions.uploadPart,
    uploadSessions.finalizeUpload,
    attestations.attest,
    attestations.push,
    evidence.verifyByPost,
    evidence.simulateAttest,
    subscriptions.confirmSubscription,
    delegations.delegate,
  ].map(({ name }) => name),
)

/** Those that make a file: where the gateway is left to name it, each time another one. */
const NAMING = new Set<string>([files.createFile, files.createFiles, files.fetchAndStore].map(({ name }) => name))

/** With one of these a request counts once, however often it comes. */
const ONCE_HEADERS = ['idempotency-key', 'payment-signature']

export function isRepeatable({ method, name }: Endpoint, { headers = {}, body }: AnyInput): boolean {
  if (method !== 'POST' || POSTS.has(name)) return true
  if (NAMING.has(name)) return namesItsFiles(body as FilesBody)
  return Object.keys(headers).some((header) => ONCE_HEADERS.includes(header.toLowerCase()))
}

interface FilesBody {
  filename?: string
  files?: readonly { filename?: string }[]
}

function namesItsFiles({ filename, files }: FilesBody): boolean {
  return files ? files.every((file) => file.filename !== undefined) : filename !== undefined
}
