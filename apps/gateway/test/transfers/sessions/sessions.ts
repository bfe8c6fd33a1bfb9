// For tests: an upload session and its client.

import { hash } from 'node:crypto'
import type { FinalizedUpload, UploadedPart, UploadSession, UploadSessionStatus } from '@svc/api/upload-sessions'
import { expect } from 'vitest'
import type { Identity, LockerHouse, Reply, TestLocker } from '../../auth/lockers.ts'

interface SessionRequest {
  files: { filename: string; content_type?: string; size_bytes?: number; expected_hash?: string }[]
  ttl_min?: number
  receipt_id?: string
}

export interface TestSession {
  opened: UploadSession
  /** Path of the parts of the n-th file. */
  partsPath(file: number): string
  headers: Record<string, string>
  /** Base64 in JSON. */
  part(index: number, bytes: Uint8Array | string, options?: PartOptions): Promise<Reply<UploadedPart>>
  /** As they are. */
  raw(index: number | string, bytes: Uint8Array | string, options?: PartOptions): Promise<Reply<UploadedPart>>
  finalize(): Promise<Reply<FinalizedUpload>>
  status(): Promise<Reply<UploadSessionStatus>>
  /** The same session at another gateway. */
  at(house: LockerHouse): TestSession
}

interface PartOptions {
  /** Which file; the first unless told. */
  file?: number
  sha256?: string
}

export async function openTestSession(
  house: LockerHouse,
  locker: TestLocker,
  request: SessionRequest,
  who?: Identity,
): Promise<TestSession> {
  const opened = await locker.call<UploadSession>(['locker:write'], 'POST', '/upload-sessions', request, who)
  expect(opened.status, JSON.stringify(opened.body)).toBe(200)
  return sessionAt(house, opened.body)
}

function sessionAt(house: LockerHouse, opened: UploadSession): TestSession {
  const path = `/v1/upload-sessions/${opened.session_id}`
  const headers = { 'x-upload-token': opened.upload_token }
  const partsPath = (file: number) => `${path}/files/${opened.files[file]?.file_id}/parts`
  return {
    opened,
    partsPath,
    headers,
    part: (index, bytes, { file = 0, sha256 } = {}) =>
      house.send('POST', partsPath(file), { index, data: Buffer.from(bytes).toString('base64'), sha256 }, headers),
    raw(index, bytes, { file = 0, sha256 } = {}) {
      const query = new URLSearchParams({ index: String(index), ...(sha256 && { sha256 }) })
      const type = { 'content-type': 'application/octet-stream' }
      return house.send('POST', `${partsPath(file)}?${query}`, Buffer.from(bytes), { ...headers, ...type })
    },
    finalize: () => house.send('POST', `${path}/finalize`, undefined, headers),
    status: () => house.send('GET', path, undefined, headers),
    at: (other) => sessionAt(other, opened),
  }
}

export function sha256(bytes: Uint8Array | string): string {
  return hash('sha256', bytes)
}

/** What the locker lists of a file. */
export async function listed(locker: TestLocker, filename: string) {
  const { body } = await locker.call<{ files: Record<string, unknown>[] }>(['locker:list'], 'GET', '/files')
  return body.files.find((file) => file.filename === filename)
}

/** The bytes of a file by the public link of its receipt. */
export async function publicBytes(house: LockerHouse, locker: TestLocker, filename: string): Promise<Buffer> {
  const response = await fetch(`${house.gateway.url}/v1/r/${locker.receiptId}/f/${encodeURIComponent(filename)}`)
  expect(response.status, filename).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}
