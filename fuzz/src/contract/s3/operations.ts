// The operations of the S3 endpoint, which is not in the interface description, with the parameters that clients send.

import type { Operation, Parameter, Schema } from '../operation.ts'

const TEXT: Schema = { type: 'string', maxLength: 1024 }
const COUNT: Schema = { type: 'integer', minimum: 0, maximum: 1000 }
const PART: Schema = { type: 'integer', minimum: 1, maximum: 10_000 }
const URL_ENCODING: Schema = { enum: ['url'] }
const DATE: Schema = { enum: ['Wed, 21 Oct 2015 07:28:00 GMT'] }
const ETAG: Schema = { enum: ['*', '"0"'] }

const PUT_HEADERS = {
  'content-md5': { enum: ['XUFAKrxLKna5cZ2REBfFkg=='] },
  'content-type': { enum: ['text/plain'] },
  'x-amz-acl': { enum: ['private'] },
  'x-amz-checksum-crc32': { enum: ['NhCmhg=='] },
  'x-amz-checksum-sha256': { enum: ['LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ='] },
  'x-amz-meta-mtime': TEXT,
  'x-amz-storage-class': { enum: ['STANDARD'] },
  'x-amz-server-side-encryption': { enum: ['AES256'] },
  'x-amz-tagging': TEXT,
  'if-none-match': { enum: ['*'] },
} satisfies Record<string, Schema>

const READ_HEADERS = {
  range: { enum: ['bytes=0-1', 'bytes=-1', 'bytes=1-'] },
  'if-match': ETAG,
  'if-none-match': ETAG,
  'if-modified-since': DATE,
  'if-unmodified-since': DATE,
} satisfies Record<string, Schema>

const COPY_HEADERS = {
  'x-amz-copy-source-if-match': ETAG,
  'x-amz-copy-source-if-modified-since': DATE,
  'x-amz-metadata-directive': { enum: ['COPY', 'REPLACE'] },
} satisfies Record<string, Schema>

const LIST = { prefix: TEXT, delimiter: TEXT, 'encoding-type': URL_ENCODING }
const SERVICE = '/s3'
const BUCKET = '/s3/{bucket}'
const OBJECT = '/s3/{bucket}/{key}'

interface Inputs {
  query?: Readonly<Record<string, Schema>>
  headers?: Readonly<Record<string, Schema>>
  takesBytes?: true
}

export const S3_OPERATIONS: readonly Operation[] = [
  operation('listBuckets', 'GET', SERVICE),
  operation('headBucket', 'HEAD', BUCKET),
  operation('createBucket', 'PUT', BUCKET, { headers: { 'x-amz-acl': { enum: ['private'] } }, takesBytes: true }),
  operation('getLocation', 'GET', BUCKET),
  operation('getVersioning', 'GET', BUCKET),
  operation('listObjects', 'GET', BUCKET, { query: { ...LIST, marker: TEXT, 'max-keys': COUNT } }),
  operation('listObjectsV2', 'GET', BUCKET, {
    query: {
      ...LIST,
      'start-after': TEXT,
      'max-keys': COUNT,
      'continuation-token': TEXT,
      'fetch-owner': { enum: ['true'] },
    },
  }),
  operation('listVersions', 'GET', BUCKET, { query: { ...LIST, 'max-keys': COUNT, 'key-marker': TEXT } }),
  operation('deleteObjects', 'POST', BUCKET, { takesBytes: true }),
  operation('deleteBucket', 'DELETE', BUCKET),
  operation('putObject', 'PUT', OBJECT, { headers: PUT_HEADERS, takesBytes: true }),
  operation('getObject', 'GET', OBJECT, {
    headers: READ_HEADERS,
    query: { partNumber: PART, 'response-content-type': TEXT },
  }),
  operation('headObject', 'HEAD', OBJECT, { headers: READ_HEADERS, query: { partNumber: PART } }),
  operation('getObjectAttributes', 'GET', OBJECT, { headers: { 'x-amz-max-parts': COUNT } }),
  operation('getObjectAcl', 'GET', OBJECT),
  operation('putObjectAcl', 'PUT', OBJECT, { takesBytes: true }),
  operation('getObjectTagging', 'GET', OBJECT),
  operation('copyObject', 'PUT', OBJECT, { headers: { 'x-amz-copy-source': TEXT, ...COPY_HEADERS } }),
  operation('deleteObject', 'DELETE', OBJECT, { headers: { 'if-match': ETAG } }),
  operation('putFolder', 'PUT', OBJECT, { headers: PUT_HEADERS, takesBytes: true }),
  operation('createUpload', 'POST', OBJECT, { headers: PUT_HEADERS }),
  operation('uploadPart', 'PUT', OBJECT, { query: { partNumber: PART, uploadId: TEXT }, takesBytes: true }),
  operation('copyPart', 'PUT', OBJECT, {
    query: { partNumber: PART, uploadId: TEXT },
    headers: { 'x-amz-copy-source': TEXT, 'x-amz-copy-source-range': TEXT },
  }),
  operation('listParts', 'GET', OBJECT, { query: { 'max-parts': COUNT, 'part-number-marker': COUNT, uploadId: TEXT } }),
  operation('listUploads', 'GET', BUCKET, { query: { ...LIST, 'max-uploads': COUNT, 'upload-id-marker': TEXT } }),
  operation('completeUpload', 'POST', OBJECT, { query: { uploadId: TEXT }, takesBytes: true }),
  operation('abortUpload', 'DELETE', OBJECT, { query: { uploadId: TEXT } }),
]

function operation(id: string, method: string, path: string, inputs: Inputs = {}): Operation {
  const { query = {}, headers = {}, takesBytes = false } = inputs
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => parameter('path', name as string, TEXT))
  return {
    id,
    method,
    path,
    security: 'signature',
    parameters: [
      ...inPath,
      ...Object.entries(query).map(([name, schema]) => parameter('query', name, schema)),
      ...Object.entries(headers).map(([name, schema]) => parameter('header', name, schema)),
    ],
    body: null,
    takesBytes,
    answers: {},
  }
}

function parameter(part: Parameter['in'], name: string, schema: Schema): Parameter {
  return { name, in: part, required: part === 'path', schema }
}
