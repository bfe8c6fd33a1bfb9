// The S3 endpoint of the gateway: requests signed like those of clients, and errors in the S3 form.

import type { S3Credentials } from '@svc/api/s3-credentials'
import { S3_ERROR_STATUS } from '@svc/s3/errors'
import type { CheckAnswer } from '../answers.ts'
import { senderOf } from '../ask.ts'
import type { Credential, Given } from '../draft.ts'
import type { GatewayFixture, OwnedLocker } from '../gateway/fixture.ts'
import { MAY_CHANGE } from '../gateway/target.ts'
import { preparedBy } from '../prepare.ts'
import type { ContractTarget } from '../run.ts'
import { S3_OPERATIONS } from './operations.ts'
import { signedHeaders } from './sign.ts'

const HELLO = Buffer.from('hello')

export function s3Target(fixture: GatewayFixture): ContractTarget {
  const { line, ask, now, locker, gateway, changes } = fixture
  const { host } = new URL(gateway.url)
  const must = senderOf(S3_OPERATIONS, line)

  /** A new locker with the object `a.txt`, and its write credentials. */
  async function bucket(): Promise<{ path: { bucket: string; key: string }; credential: Credential }> {
    const { lockerId, credential: owner }: OwnedLocker = await locker()
    const wanted = { path: { locker_id: lockerId }, body: { access: 'write' }, credential: owner }
    const keys = await ask<S3Credentials>('mintS3Credentials', wanted)
    const credential: Credential = (request, headers) => signedHeaders(keys, host, now, request, headers)
    const made = { path: { bucket: lockerId, key: 'a.txt' }, credential }
    await must('putObject', { ...made, body: HELLO })
    return made
  }

  const made =
    (given: Given = {}) =>
    async () => ({ ...(await bucket()), ...given })
  const about = (subresource: string, given: Given = {}) => made({ ...given, query: { [subresource]: '' } })

  async function upload(): Promise<{ base: Awaited<ReturnType<typeof bucket>>; uploadId: string }> {
    const base = await bucket()
    const { body } = await must('createUpload', { ...base, query: { uploads: '' } })
    return { base, uploadId: /<UploadId>([^<]+)</.exec(body.toString())?.[1] ?? '' }
  }

  async function partOf(given: Given): Promise<Given> {
    const { base, uploadId } = await upload()
    return { ...base, ...given, query: { partNumber: 1, uploadId } }
  }

  async function withPart(): Promise<Given> {
    const { base, uploadId } = await upload()
    await must('uploadPart', { ...base, query: { partNumber: 1, uploadId }, body: HELLO })
    return { ...base, query: { uploadId } }
  }

  async function complete(): Promise<Given> {
    const { base, uploadId } = await upload()
    const { headers } = await must('uploadPart', { ...base, query: { partNumber: 1, uploadId }, body: HELLO })
    const part = `<Part><PartNumber>1</PartNumber><ETag>${headers.etag}</ETag></Part>`
    const body = Buffer.from(`<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`)
    return { ...base, query: { uploadId }, body }
  }

  async function copy(): Promise<Given> {
    const { path, credential } = await bucket()
    const headers = { 'x-amz-copy-source': `/${path.bucket}/a.txt` }
    return { path: { ...path, key: 'b.txt' }, headers, credential }
  }

  async function copyPart(): Promise<Given> {
    const { base, uploadId } = await upload()
    const headers = { 'x-amz-copy-source': `/${base.path.bucket}/a.txt` }
    return { ...base, headers, query: { partNumber: 1, uploadId } }
  }

  const recipes: Record<string, () => Promise<Given>> = {
    ...Object.fromEntries(S3_OPERATIONS.map(({ id }) => [id, made()])),
    getLocation: about('location'),
    getVersioning: about('versioning'),
    listObjectsV2: made({ query: { 'list-type': 2 } }),
    listVersions: about('versions'),
    deleteObjects: about('delete', { body: Buffer.from('<Delete><Object><Key>a.txt</Key></Object></Delete>') }),
    putObject: made({ body: HELLO }),
    getObjectAttributes: about('attributes', { headers: { 'x-amz-object-attributes': 'ETag,ObjectSize' } }),
    getObjectAcl: about('acl'),
    putObjectAcl: about('acl', { headers: { 'x-amz-acl': 'private' } }),
    getObjectTagging: about('tagging'),
    copyObject: copy,
    async putFolder() {
      const { path, credential } = await bucket()
      return { path: { ...path, key: 'folder/' }, credential }
    },
    createUpload: about('uploads'),
    uploadPart: () => partOf({ body: HELLO }),
    copyPart,
    listParts: withPart,
    listUploads: about('uploads'),
    completeUpload: complete,
    abortUpload: withPart,
  }

  return {
    operations: S3_OPERATIONS,
    line,
    check: checkS3,
    prepare: preparedBy({ values: {}, credentials: {}, recipes }),
    changes,
    mayChange: MAY_CHANGE,
    conditions: {},
    words: { prefix: ['a', ''], delimiter: ['/'], 'start-after': ['a'], marker: ['a'] },
    unreached: { deleteBucket: 'S3 clients cannot remove a locker' },
  }
}

const checkS3: CheckAnswer = ({ method }, { status, headers, body }) => {
  const text = body.toString()
  if (headers['x-amz-request-id'] === undefined) return `${status} without x-amz-request-id`
  if (status < 400) return null
  if (method === 'HEAD') return text === '' ? null : `${status} has a body`
  if (headers['content-type'] !== 'application/xml') return `an error of type ${headers['content-type']}`
  const code = /^<\?xml[^>]*>\s*<Error><Code>(\w+)<\/Code><Message>[^<]+<\/Message>/.exec(text)?.[1] ?? ''
  const declared = S3_ERROR_STATUS[code as keyof typeof S3_ERROR_STATUS]
  if (declared !== status) return `${status} with the code ${code}: ${text.slice(0, 300)}`
  return status >= 500 && code !== 'NotImplemented' ? `${code}, our own fault` : null
}
