// Which operation a request asks for.

import { s3Error } from '@svc/s3/errors'
import type { SignedRequest } from '@svc/s3/signature'
import { bucketVerbs } from './buckets/verbs.ts'
import { isFolderKey } from './folders/folders.ts'
import { folderVerbs } from './folders/verbs.ts'
import { multipartVerbs } from './multipart/verbs.ts'
import { objectVerbs } from './objects/verbs.ts'
import type { Verb, Verbs } from './operation.ts'
import type { S3Place } from './request.ts'

const VERBS: Verbs = { ...bucketVerbs, ...objectVerbs, ...folderVerbs, ...multipartVerbs }

/** Other names in a query are parameters of an operation, or mean nothing. */
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

/** With the name that it has in metrics and in the log. */
interface FoundVerb extends Verb {
  route: string
}

export function findVerb(method: string, { headers }: Pick<SignedRequest, 'headers'>, place: S3Place): FoundVerb {
  const level = levelOf(place)
  const subresource = SUBRESOURCES.find((name) => place.query.has(name))
  const asked = subresource === undefined ? '' : `?${subresource}`
  const isCopy = method === 'PUT' && headers['x-amz-copy-source'] !== undefined
  const rest = `${asked}${isCopy ? ' copy' : ''}`
  const verbOf = (about: string) => VERBS[`${method} ${about}${rest}`]
  const verb = verbOf(level) ?? (level === 'folder' ? verbOf('object') : undefined)
  if (verb) return { ...verb, route: ROUTES[level] + rest }
  if (subresource !== undefined)
    throw s3Error('NotImplemented', `${method} ${level}${asked} is not something this gateway does`)
  throw s3Error('MethodNotAllowed', `${method} is not allowed on a ${level}`)
}

const ROUTES = {
  service: '/s3',
  bucket: '/s3/{bucket}',
  folder: '/s3/{bucket}/{folder}/',
  object: '/s3/{bucket}/{key}',
}

function levelOf({ bucket, key }: S3Place): keyof typeof ROUTES {
  if (bucket === '') return 'service'
  if (key === '') return 'bucket'
  return isFolderKey(key) ? 'folder' : 'object'
}
