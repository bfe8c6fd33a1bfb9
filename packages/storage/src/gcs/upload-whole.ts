import { randomUUID } from 'node:crypto'
import { validateHeaderValue } from 'node:http'
import { idIsTaken, isThere, metadataOf, type OwnWrite, takeBack } from './own-write.ts'
import type { GcsStore } from './bucket.ts'

/** A small object in one request, which may be sent again since it changes nothing that is there. */
export async function uploadWhole(store: GcsStore, write: OwnWrite, blocks: readonly Buffer[]): Promise<void> {
  validateHeaderValue('content-type', write.contentType)
  const boundary = randomUUID()
  const parts = [
    `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${metadataOf(write)}\r\n`,
    `--${boundary}\r\ncontent-type: ${write.contentType}\r\n\r\n`,
    `\r\n--${boundary}--`,
  ].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer] // as many as there are above
  const [about, before, after] = parts
  const url = store.url('upload/storage', null, { uploadType: 'multipart', name: write.name, ifGenerationMatch: '0' })
  const headers = { 'content-type': `multipart/related; boundary=${boundary}` }
  try {
    const { status } = await store.ask({ method: 'POST', url, headers, body: [about, before, ...blocks, after] }, [412])
    if (status === 412 && !(await isThere(store, write))) throw idIsTaken()
  } catch (error) {
    await takeBack(store, write, error)
    throw error
  }
}
