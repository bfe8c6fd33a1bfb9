// Opens upload sessions for tests, and sends their requests.

import type { FinalizedUpload, UploadedPart, UploadSession, UploadSessionStatus } from '@svc/api/upload-sessions'
import type { Identity, TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { expect } from 'vitest'

export { entryOf as listed } from '../../../files/confirm/confirm.ts'

interface SessionRequest {
  files: { filename: string; content_type?: string; size_bytes?: number; expected_hash?: string; overwrite?: boolean }[]
  ttl_min?: number
  receipt_id?: string
}

export interface TestSession extends ReturnType<typeof sessionAt> {}

interface PartOptions {
  /** The index of the file; the first by default. */
  file?: number
  sha256?: string
}

export async function openTestSession(
  instance: TestGateway,
  locker: TestLocker,
  request: SessionRequest,
  who?: Identity,
) {
  const opened = await locker.call<UploadSession>(['locker:write'], 'POST', '/upload-sessions', request, who)
  expect(opened.status, JSON.stringify(opened.body)).toBe(200)
  return sessionAt(instance, opened.body)
}

function sessionAt(instance: TestGateway, opened: UploadSession) {
  const path = `/v1/upload-sessions/${opened.session_id}`
  const headers = { 'x-upload-token': opened.upload_token }
  const partsPath = (file: number) => `${path}/files/${opened.files[file]?.file_id}/parts`
  return {
    opened,
    /** The path for parts of the n-th file. */
    partsPath,
    headers,
    /** Sends a part as base64 in JSON. */
    part(index: number, bytes: Uint8Array | string, { file = 0, sha256 }: PartOptions = {}) {
      const body = { index, data: Buffer.from(bytes).toString('base64'), sha256 }
      return instance.send<UploadedPart>('POST', partsPath(file), body, headers)
    },
    /** Sends a part as raw bytes. */
    raw(index: number | string, bytes: Uint8Array | string, { file = 0, sha256 }: PartOptions = {}) {
      const query = new URLSearchParams({ index: String(index), ...(sha256 !== undefined && { sha256 }) })
      const type = { 'content-type': 'application/octet-stream' }
      const body = Buffer.from(bytes)
      return instance.send<UploadedPart>('POST', `${partsPath(file)}?${query}`, body, { ...headers, ...type })
    },
    finalize: () => instance.send<FinalizedUpload>('POST', `${path}/finalize`, undefined, headers),
    status: () => instance.send<UploadSessionStatus>('GET', path, undefined, headers),
    /** The same session at another gateway. */
    at: (other: TestGateway): TestSession => sessionAt(other, opened),
  }
}

/** The bytes of a file, read by its public link. */
export async function publicBytes(instance: TestGateway, locker: TestLocker, filename: string): Promise<Buffer> {
  const response = await fetch(`${instance.gateway.url}/v1/r/${locker.receiptId}/f/${encodeURIComponent(filename)}`)
  expect(response.status, filename).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}
