import { sendBytes, textOf } from '../bytes.ts'
import { startServer } from '../server-process.ts'
import { fourAtOnce, type Peer, partsOf, plainPeer } from './peer.ts'

export async function startS3rver(): Promise<Peer> {
  const server = await startServer('s3rver')

  /** Uploads an object in parts. */
  async function putInParts(name: string, length: number): Promise<void> {
    const url = `${server.url}/${name}`
    const begun = await textOf(await sendBytes({ url: `${url}?uploads`, method: 'POST' }, 0))
    const id = /<UploadId>(\w+)</.exec(begun)?.[1]
    const parts = partsOf(length)
    await fourAtOnce(parts, async ({ index, bytes }) => {
      await textOf(await sendBytes({ url: `${url}?uploadId=${id}&partNumber=${index + 1}` }, bytes))
    })
    const list = parts.map(({ index }) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>""</ETag></Part>`)
    const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`
    const completed = await fetch(`${url}?uploadId=${id}`, { method: 'POST', body })
    if (!completed.ok) throw new Error(`${completed.status}: ${await completed.text()}`)
    await completed.text()
  }

  const does = 'hashed with MD5, in the page cache; signatures are optional'
  return { ...plainPeer({ name: 's3rver', does, keepsRecords: true, server }), putInParts }
}
