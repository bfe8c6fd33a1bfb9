// The owner that S3 responses report for a bucket and its objects.

import { type S3Error, s3Error } from '@svc/s3/errors'
import { childrenOf, readXml, textOf, writeXml } from '@svc/s3/xml'
import { Bytes } from '@svc/service/http/answer'
import type { Locker } from '../../db/schema.ts'
import { emptyAnswer, xmlHeaders } from './answers.ts'
import { readSmallBody, type S3Request } from './request.ts'

/** A holder of a bucket key already knows this name and does not need the owner's wallet. */
export function ownerOf({ locker_id }: Locker) {
  return named(locker_id)
}

export function named(name: string) {
  return { ID: name, DisplayName: name }
}

/** The owner has full control and nobody else has any: access is granted by keys of the locker. */
export function aclAnswer(locker: Locker): Bytes {
  const Owner = ownerOf(locker)
  const Grant = { Grantee: Owner, Permission: 'FULL_CONTROL' }
  const plain = writeXml('AccessControlPolicy', { Owner, AccessControlList: { Grant } })
  // Clients fail without the attribute.
  const xml = plain.replace('<Grantee>', `<Grantee ${CANONICAL_USER}>`)
  return new Bytes(200, xmlHeaders(xml), xml)
}

/** The canned ACLs that match a locker's actual access. */
const PRIVATE_ACLS: readonly string[] = ['private', 'bucket-owner-full-control']

const LIMITS = { bytes: 64 * 1024, elements: 1000 }

/** Rejects headers that set an ACL: a client must not believe that it granted access to others. */
export function refuseAcl(headers: Readonly<Record<string, string>>): void {
  const { 'x-amz-acl': acl = 'private' } = headers
  const isGranting = Object.keys(headers).some((name) => name.startsWith('x-amz-grant-'))
  if (isGranting || !PRIVATE_ACLS.includes(acl)) throw aclNotSupported()
}

/** Accepts an ACL that grants nothing. Some clients copy an object and then its ACL. */
export async function acceptPrivateAcl(request: S3Request, locker: Locker): Promise<Bytes> {
  const { headers } = request.signed
  refuseAcl(headers)
  const body = await readSmallBody(request, LIMITS.bytes)
  const isPrivate = body.length > 0 ? isOfOwnerOnly(body, locker) : headers['x-amz-acl'] !== undefined
  if (!isPrivate) throw aclNotSupported()
  return emptyAnswer(200)
}

function aclNotSupported(): S3Error {
  return s3Error(
    'AccessControlListNotSupported',
    'a locker has no access control lists; its keys control access',
    'omit the list, or send private; create access keys for readers and writers',
  )
}

/** Whether the ACL equals the response of `aclAnswer`. */
function isOfOwnerOnly(body: Buffer, { locker_id }: Locker): boolean {
  const root = readXml(body, LIMITS)
  const grants = childrenOf(root, 'AccessControlList').flatMap((list) => childrenOf(list, 'Grant'))
  const [grant] = grants
  if (!grant || grants.length > 1) return false
  const [grantee] = childrenOf(grant, 'Grantee')
  return !!grantee && textOf(grantee, 'ID') === locker_id && textOf(grant, 'Permission') === 'FULL_CONTROL'
}

const CANONICAL_USER = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"'
