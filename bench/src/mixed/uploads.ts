// Stores files of a locker by short URL or in parts, and confirms, reads and deletes them.

import { createHash } from 'node:crypto'
import type { FileEntry, LockerEntry } from './ledger.ts'
import type { Shopper } from './shopper.ts'

const PART_BYTES = 64 * 1024

export function hashOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

/** Stores new bytes under a name and confirms them. */
export async function storeFile(
  shopper: Shopper,
  locker: LockerEntry,
  filename: string,
  bytes: Uint8Array,
): Promise<void> {
  const entry: FileEntry = locker.files.get(filename) ?? { possible: new Set([null]), size: bytes.length }
  locker.files.set(filename, entry)
  const hash = hashOf(bytes)
  entry.possible.add(hash)
  const { length: losses } = shopper.ledger.losses
  const isStored = shopper.random.chance(0.4)
    ? await storeInParts(shopper, locker, filename, bytes)
    : await storeByUrl(shopper, locker, filename, bytes)
  if (!isStored) return
  // Bytes sent directly to a provider may belong to an upload that a restored database has lost.
  if (shopper.ledger.losses.length === losses) entry.possible = new Set([hash])
  entry.size = bytes.length
  const query = new URLSearchParams({ receipt_id: locker.receiptId, filename })
  const confirmed = await shopper.attempt(200, () =>
    shopper.client.send({ operation: 'confirm file', method: 'POST', path: `/v1/files/confirm?${query}` }),
  )
  // A database restored meanwhile has the earlier bytes.
  if (confirmed && confirmed.body.content_hash !== hash && shopper.ledger.losses.length === losses)
    shopper.ledger.violations.push(`${filename} was confirmed with the hash of other bytes`)
}

async function storeByUrl(
  { signed, attempt, client }: Shopper,
  locker: LockerEntry,
  filename: string,
  bytes: Uint8Array,
): Promise<boolean> {
  const urls = await signed(locker.owner, 'name file', {
    ...locker,
    method: 'POST',
    path: `/v1/lockers/${locker.lockerId}/files`,
    body: { filename, content_type: 'application/octet-stream', expected_hash: hashOf(bytes) },
    ops: ['locker:write'],
  })
  if (!urls) return false
  const { pathname: path } = new URL(urls.upload_url as string)
  const headers = urls.upload_headers as Record<string, string>
  const put = { operation: 'upload', method: 'PUT', path, headers, body: bytes }
  return (await attempt(200, () => client.send(put))) !== null
}

interface Session {
  session_id: string
  upload_token: string
  files: [{ file_id: string; parts_url: string }]
}

async function storeInParts(
  { signed, attempt, client }: Shopper,
  locker: LockerEntry,
  filename: string,
  bytes: Uint8Array,
): Promise<boolean> {
  const opened = await signed(locker.owner, 'open session', {
    ...locker,
    method: 'POST',
    path: `/v1/lockers/${locker.lockerId}/upload-sessions`,
    body: { receipt_id: locker.receiptId, files: [{ filename, size_bytes: bytes.length }] },
    ops: ['locker:write'],
  })
  if (!opened) return false
  const session = opened as unknown as Session // the declared response
  const headers = { 'x-upload-token': session.upload_token }
  const { pathname: parts } = new URL(session.files[0].parts_url)
  for (let index = 0; index * PART_BYTES < bytes.length; index++) {
    const part = {
      operation: 'upload part',
      method: 'POST',
      path: `${parts}?index=${index}`,
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
    }
    if (!(await attempt(200, () => client.send(part)))) return false
  }
  const path = `/v1/upload-sessions/${session.session_id}/finalize`
  const finalize = { operation: 'finish session', method: 'POST', path, headers }
  const isComplete = ({ status }: { status?: unknown }) => status === 'complete'
  return (await attempt(200, () => client.send(finalize), isComplete)) !== null
}

export async function deleteFile(shopper: Shopper, locker: LockerEntry, filename: string): Promise<void> {
  const entry = locker.files.get(filename) as FileEntry
  entry.possible.add(null)
  const { length: losses } = shopper.ledger.losses
  const path = `/v1/lockers/${locker.lockerId}/files/${encodeURIComponent(filename)}`
  const call = { ...locker, method: 'DELETE', path, ops: ['locker:write'] }
  // An attempt whose answer was lost may have deleted the file.
  const deleted = await shopper.signed(locker.owner, 'delete file', call, ['FILE_NOT_FOUND'])
  if (deleted && shopper.ledger.losses.length === losses) entry.possible = new Set([null])
}

export function publicPath({ receiptId }: LockerEntry, filename: string): string {
  return `/v1/r/${receiptId}/f/${filename.split('/').map(encodeURIComponent).join('/')}`
}

/** Reads a file by the public link and checks that it has the acknowledged bytes and no others. */
export async function readPublicly(shopper: Shopper, locker: LockerEntry, filename: string): Promise<void> {
  const { possible } = locker.files.get(filename) as FileEntry
  const answer = await shopper.client.read({
    operation: 'public read',
    method: 'GET',
    path: publicPath(locker, filename),
  })
  if (answer?.status === 404 && !possible.has(null)) shopper.ledger.violations.push(`${filename} was not found`)
  if (answer?.status === 200 && !possible.has(hashOf(answer.bytes)))
    shopper.ledger.violations.push(`${filename} returned bytes that were never stored under this name`)
}
