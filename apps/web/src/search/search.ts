// The search and its result. It is one module state, because a bundle can be dropped on any page.

import { signal } from '@preact/signals'
import type { PublishedAnchor } from '@svc/api/evidence'
import { common } from '#texts/common'
import { texts as t } from '#texts/search'
import { currentPath } from '../address.ts'
import { getJson, RequestFailed } from '../gateway.ts'
import { toast } from '../ui/toast.tsx'
import { handOver } from './hand-over.ts'
import { type Recognized, recognize } from './recognize.ts'

export type Found =
  | { state: 'nothing'; title: string; text: string }
  | { state: 'asking'; recognized: Recognized }
  | { state: 'recognized'; recognized: Recognized; anchor: PublishedAnchor | null }

export const found = signal<Found | null>(null)

export async function lookUp(text: string): Promise<void> {
  const recognized = recognize(text)
  if (!recognized) {
    found.value = text.trim() ? { state: 'nothing', title: t.nothing, text: t.nothingText } : null
    return
  }
  if (recognized.kind === 'transaction' && (await isSecretKey(recognized.value))) {
    found.value = { state: 'nothing', title: t.secret, text: t.secretText }
    return
  }
  found.value = { state: 'asking', recognized }
  const anchor = isPublished(recognized) ? await findAnchor(recognized.value) : null
  found.value = anchor instanceof RequestFailed ? failed(anchor) : { state: 'recognized', recognized, anchor }
}

/** Reads only the beginning of a bundle, which may be large. The verify page reads all of it. */
export async function lookUpFile(file: File): Promise<void> {
  const start = await file
    .slice(0, START_BYTES)
    .text()
    .catch(() => '')
  if (!start.trimStart().startsWith('{')) return refuse(t.bundle.notJson(file.name))
  try {
    await handOver(file)
  } catch {
    refuse(t.bundle.notHandedOver)
  }
}

const START_BYTES = 1024

function refuse(text: string): void {
  if (currentPath.value === '/') found.value = { state: 'nothing', title: t.nothing, text }
  else toast(text)
}

/**
 * Whether the gateway may look it up. Only what is public on chain is: otherwise something public could lead to
 * something that opens files.
 */
function isPublished({ kind }: Recognized): boolean {
  return kind === 'transaction' || kind === 'digest'
}

async function findAnchor(id: string): Promise<PublishedAnchor | RequestFailed | null> {
  try {
    return await getJson<PublishedAnchor>(`/v1/anchors/${id}`)
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error
    return error.status === 404 ? null : error
  }
}

function failed({ message }: RequestFailed): Found {
  return { state: 'nothing', title: common.states.noAnswer, text: message }
}

/**
 * A keypair has as many bytes as a signature. It must not be sent, even by a visitor who mistakes one for the other.
 */
async function isSecretKey(text: string): Promise<boolean> {
  const [{ signerFromSolanaKeypair }, { fromBase58 }] = await Promise.all([
    import('@svc/sdk/signers'),
    import('@svc/protocol/bytes'),
  ])
  try {
    signerFromSolanaKeypair(fromBase58(text, 64) ?? [])
    return true
  } catch {
    return false
  }
}
