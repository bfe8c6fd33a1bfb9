import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetBucketAclCommand,
  GetBucketLocationCommand,
  GetBucketVersioningCommand,
  HeadBucketCommand,
  ListBucketsCommand,
} from '@aws-sdk/client-s3'
import { forAllTests } from '@svc/devnet/for-tests'
import { expect, it, onTestFinished } from 'vitest'
import { lockerRow, storeFile } from '../../../files/files.ts'
import { expectS3Error, openS3Gateway } from '../s3-gateway.ts'

const instance = forAllTests(openS3Gateway)
const bucket = forAllTests(() => instance.bucket())

it('ADD-44 the S3 endpoint lists the one bucket that the key opens', async () => {
  const Bucket = bucket.name
  const { Buckets, Owner } = await bucket.client.send(new ListBucketsCommand({}))
  expect(Buckets).toEqual([{ Name: Bucket, CreationDate: expect.any(Date), BucketRegion: 'us-east-1' }])
  expect(Owner).toEqual({ ID: Bucket, DisplayName: Bucket })
  const { created_at } = await lockerRow(instance, bucket.locker)
  expect(Buckets![0]!.CreationDate).toEqual(new Date(created_at))
  expect((await bucket.client.send(new ListBucketsCommand({ Prefix: 'other' }))).Buckets ?? []).toEqual([])
})

it('ADD-44 the S3 endpoint finds the bucket of the key and no other', async () => {
  const Bucket = bucket.name
  expect(await bucket.client.send(new HeadBucketCommand({ Bucket }))).toMatchObject({ BucketRegion: 'us-east-1' })
  const { name } = await instance.bucket()
  for (const other of [name, 'locker_none'])
    expect(await bucket.send('HEAD', '', { target: `/s3/${other}` })).toMatchObject({ status: 403 })
  // Most clients print the message, and not the hint.
  const { status, text } = await bucket.send('GET', '', { target: '/s3/photos' })
  expect([status, text]).toEqual([403, expect.stringContaining(`<Message>this access key opens only ${Bucket}`)])
})

it('ADD-44 the S3 endpoint accepts the creation of the existing bucket, even with a read-only key', async () => {
  const Bucket = bucket.name
  const reader = await bucket.clientWith({}, { access: 'read' })
  for (const client of [bucket.client, reader])
    expect(await client.send(new CreateBucketCommand({ Bucket }))).toMatchObject({ Location: `/${Bucket}` })
  const configured = { Bucket, CreateBucketConfiguration: { LocationConstraint: 'eu-west-1' as const } }
  await bucket.client.send(new CreateBucketCommand(configured))
  const locked = new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true })
  await expectS3Error(bucket.client.send(locked), 501, 'NotImplemented')
  const answer = await bucket.send('PUT', '', { target: '/s3/my-bucket' })
  expect(answer).toMatchObject({ status: 403, code: 'AccessDenied' })
  expect(answer.text).toContain('lockers are bought')
})

it('ADD-44 the S3 endpoint refuses access lists that it would not apply', async () => {
  const Bucket = bucket.name
  const refused = { status: 400, code: 'AccessControlListNotSupported' }
  for (const acl of ['public-read', 'authenticated-read'])
    expect(await bucket.send('PUT', '', { headers: { 'x-amz-acl': acl } })).toMatchObject(refused)
  expect(await bucket.send('PUT', '', { headers: { 'x-amz-grant-read': `id=${Bucket}` } })).toMatchObject(refused)
  expect((await bucket.send('PUT', '', { headers: { 'x-amz-acl': 'private' } })).status).toBe(200)
  const grant = (id: string, permission: string) =>
    `<Grant><Grantee><ID>${id}</ID></Grantee><Permission>${permission}</Permission></Grant>`
  const set = (grants: string, headers = {}) => {
    const body = `<AccessControlPolicy><AccessControlList>${grants}</AccessControlList></AccessControlPolicy>`
    return bucket.send('PUT', '?acl=', { body, headers })
  }
  const own = grant(Bucket, 'FULL_CONTROL')
  expect((await set(own)).status).toBe(200)
  for (const grants of ['', grant(Bucket, 'READ'), own + grant('other', 'FULL_CONTROL')])
    expect(await set(grants)).toMatchObject(refused)
  expect(await set(grant('other', 'READ'), { 'x-amz-acl': 'private' })).toMatchObject(refused)
})

it('ADD-44 a bucket cannot be deleted', async () => {
  const Bucket = bucket.name
  await expectS3Error(bucket.client.send(new DeleteBucketCommand({ Bucket })), 501, 'NotImplemented')
  const other = await instance.bucket()
  await storeFile(instance, other.locker, 'a', 'b')
  await expectS3Error(other.client.send(new DeleteBucketCommand({ Bucket: other.name })), 409, 'BucketNotEmpty')
  const reader = await bucket.clientWith({}, { access: 'read' })
  await expectS3Error(reader.send(new DeleteBucketCommand({ Bucket })), 403, 'AccessDenied')
})

it('ADD-44 the S3 endpoint reports location, versioning and access like those of a new bucket', async () => {
  const Bucket = bucket.name
  expect(await bucket.client.send(new GetBucketLocationCommand({ Bucket }))).not.toHaveProperty('LocationConstraint')
  const versioning = await bucket.client.send(new GetBucketVersioningCommand({ Bucket }))
  expect(versioning).toEqual({ $metadata: expect.anything() })
  const { Grants, Owner } = await bucket.client.send(new GetBucketAclCommand({ Bucket }))
  expect(Grants).toEqual([{ Grantee: { ...Owner, Type: 'CanonicalUser' }, Permission: 'FULL_CONTROL' }])
})

it('ADD-44 the S3 endpoint reports the configured region', async () => {
  const elsewhere = await openS3Gateway({ S3: 'on,region=eu-central-1' })
  onTestFinished(elsewhere.close)
  const { client, name: Bucket } = await elsewhere.bucket()
  const { LocationConstraint } = await client.send(new GetBucketLocationCommand({ Bucket }))
  expect(LocationConstraint).toBe('eu-central-1')
  expect(await client.send(new HeadBucketCommand({ Bucket }))).toMatchObject({ BucketRegion: 'eu-central-1' })
})

it.each([
  ['GET', 'cors', 404, 'NoSuchCORSConfiguration'],
  ['GET', 'encryption', 404, 'ServerSideEncryptionConfigurationNotFoundError'],
  ['GET', 'lifecycle', 404, 'NoSuchLifecycleConfiguration'],
  ['GET', 'object-lock', 404, 'ObjectLockConfigurationNotFoundError'],
  ['GET', 'policy', 404, 'NoSuchBucketPolicy'],
  ['GET', 'policyStatus', 404, 'NoSuchBucketPolicy'],
  ['GET', 'publicAccessBlock', 404, 'NoSuchPublicAccessBlockConfiguration'],
  ['GET', 'replication', 404, 'ReplicationConfigurationNotFoundError'],
  ['GET', 'tagging', 404, 'NoSuchTagSet'],
  ['GET', 'website', 404, 'NoSuchWebsiteConfiguration'],
  ['GET', 'accelerate', 200, null],
  ['GET', 'notification', 200, null],
  ['GET', 'requestPayment', 200, null],
  ['GET', 'inventory', 501, 'NotImplemented'],
  ['PUT', 'versioning', 501, 'NotImplemented'],
  ['DELETE', 'cors', 204, null],
  ['DELETE', 'encryption', 204, null],
  ['DELETE', 'lifecycle', 204, null],
  ['DELETE', 'ownershipControls', 204, null],
  ['DELETE', 'policy', 204, null],
  ['DELETE', 'publicAccessBlock', 204, null],
  ['DELETE', 'replication', 204, null],
  ['DELETE', 'tagging', 204, null],
  ['DELETE', 'website', 204, null],
  ['DELETE', 'object-lock', 501, 'NotImplemented'],
])('ADD-44 the S3 endpoint answers %s ?%s with %i %s', async (method, name, status, code) => {
  expect(await bucket.send(method, `?${name}=`)).toMatchObject({ status, code })
})
