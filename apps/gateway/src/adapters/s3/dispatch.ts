// Finds the operation that a request asks for.

import { s3Error } from '@svc/s3/errors'
import type { SignedRequest } from '@svc/s3/signature'
import { bucketVerbs, serviceVerbs } from './buckets/verbs.ts'
import { isFolderKey } from './folders/folders.ts'
import { folderVerbs } from './folders/verbs.ts'
import { multipartVerbs } from './multipart/verbs.ts'
import { objectVerbs } from './objects/verbs.ts'
import type { ServiceVerb, Verb, Verbs } from './operation.ts'
import type { S3Bucket } from './request.ts'

const VERBS: Verbs = { ...bucketVerbs, ...objectVerbs, ...folderVerbs, ...multipartVerbs }

/** All other query names are parameters of an operation, or are ignored. */
const SUBRESOURCES = [
  'accelerate',
  'acl',
  'analytics',
  'attributes',
  'cors',
  'delete',
  'encryption',
  'intelligent-tiering',
  'inventory',
  'legal-hold',
  'lifecycle',
  'location',
  'logging',
  'metrics',
  'notification',
  'object-lock',
  'ownershipControls',
  'policy',
  'policyStatus',
  'publicAccessBlock',
  'renameObject',
  'replication',
  'requestPayment',
  'restore',
  'retention',
  'select',
  'session',
  'tagging',
  'torrent',
  'uploadId',
  'uploads',
  'versioning',
  'versions',
  'website',
]

type Asked = Pick<SignedRequest, 'headers'>

/** With the route name for metrics and the log. */
type Found<V> = V & { route: string }

export function findVerb(method: string, signed: Asked, resource: S3Bucket): Found<Verb> {
  return find(VERBS, method, signed, resource)
}

export function findServiceVerb(method: string, signed: Asked, resource: S3Bucket): Found<ServiceVerb> {
  return find(serviceVerbs, method, signed, resource)
}

function find<V>(verbs: Readonly<Record<string, V>>, method: string, { headers }: Asked, resource: S3Bucket): Found<V> {
  const level = levelOf(resource)
  const subresource = SUBRESOURCES.find((name) => resource.query.has(name))
  const asked = subresource === undefined ? '' : `?${subresource}`
  const isCopy = method === 'PUT' && headers['x-amz-copy-source'] !== undefined
  const rest = `${asked}${isCopy ? ' copy' : ''}`
  const verbOf = (about: string) => verbs[`${method} ${about}${rest}`]
  const verb = verbOf(level) ?? (level === 'folder' ? verbOf('object') : undefined)
  if (verb) return { ...verb, route: ROUTES[level] + rest }
  if (subresource !== undefined)
    throw s3Error('NotImplemented', `${method} ${level}${asked} is not supported by this gateway`)
  throw s3Error('MethodNotAllowed', `${method} is not allowed on a ${level}`)
}

const ROUTES = {
  service: '/s3',
  bucket: '/s3/{bucket}',
  folder: '/s3/{bucket}/{folder}/',
  object: '/s3/{bucket}/{key}',
}

function levelOf({ bucket, key }: S3Bucket): keyof typeof ROUTES {
  if (bucket === '') return 'service'
  if (key === '') return 'bucket'
  return isFolderKey(key) ? 'folder' : 'object'
}
