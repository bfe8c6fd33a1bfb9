import type { NewS3Key, S3Credentials } from '@svc/api/s3-credentials'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../src/client.ts'
import { UntrueAnswer } from '../src/errors.ts'
import type { Locker } from '../src/lockers.ts'
import { errorOf, newEvm, useTestbed } from './lockers.ts'

let client: Client
let locker: Locker
const testbed = useTestbed()
beforeAll(async () => {
  const signer = newEvm()
  client = testbed.client({ signer })
  locker = await testbed.locker(signer)
})

describe('S3 credentials', () => {
  it('ADD-42 are requested with an envelope that allows no more than they do', async () => {
    expect(await client.s3Credentials(locker)).toMatchObject({ access: 'read', prefix: '', bucket: locker.locker_id })
    const options = { access: 'write', prefix: 'a/', minutes: 5 } as const
    expect(await client.s3Credentials(locker, options)).toMatchObject({ access: 'write', prefix: 'a/' })
  })

  it('ADD-42 keys are made, listed and revoked, even if an answer is lost', async () => {
    const made = await client.createS3Key(locker, { name: 'backup', access: 'write', prefix: 'b/', days: 2 })
    expect(made).toMatchObject({ name: 'backup', access: 'write', prefix: 'b/' })
    const { secret_access_key: _, endpoint, region, bucket, ...listed } = made
    expect(await client.s3Keys(locker)).toContainEqual(listed)
    testbed.proxy.plan(/s3\/keys\/SVCK/, { cut: 'answer' })
    await client.revokeS3Key(locker, made.access_key_id)
    expect(await client.s3Keys(locker)).not.toContainEqual(listed)
    expect(await errorOf(client.revokeS3Key(locker, made.access_key_id))).toMatchObject({ code: 'S3_KEY_NOT_FOUND' })
  })

  it('ADD-42 are made for all lockers of a wallet, and its keys are revoked even if an answer is lost', async () => {
    const credentials = await client.walletS3Credentials({ access: 'write', minutes: 5 })
    expect(credentials).toMatchObject({ access: 'write', region: 'us-east-1' })
    expect(credentials).not.toHaveProperty('bucket')
    const made = await client.createWalletS3Key({ name: 'all', days: 2 })
    const { secret_access_key: _, endpoint, region, ...listed } = made
    expect(listed).toMatchObject({ name: 'all', access: 'read' })
    expect(await client.walletS3Keys()).toEqual([listed])
    expect(await client.s3Keys(locker)).not.toContainEqual(expect.objectContaining({ name: 'all' }))
    testbed.proxy.plan(/s3\/keys\/SVCK/, { cut: 'answer' })
    await client.revokeWalletS3Key(made.access_key_id)
    expect(await client.walletS3Keys()).toEqual([])
    expect(await errorOf(client.revokeWalletS3Key(made.access_key_id))).toMatchObject({ code: 'S3_KEY_NOT_FOUND' })
    expect(await errorOf(testbed.client({}).walletS3Keys())).toBeInstanceOf(TypeError)
  })

  it.each<[string, Partial<S3Credentials>]>([
    ['another bucket', { bucket: 'locker_000000000000' }],
    ['a command as an id', { access_key_id: "'; reboot; '" }],
    ['a command as a secret', { secret_access_key: '$(reboot)0123456789' }],
    ['an additional line in the token', { session_token: 'a\nexport PATH=b' }],
    ['an additional section in the region', { region: 'us-east-1\n[default]' }],
    ['an endpoint that is not a web address', { endpoint: 'javascript:alert(1)' }],
    ['an endpoint with a command', { endpoint: 'https://a.example/`reboot`' }],
  ])('T-95 are refused with %s', async (_, changes) => {
    testbed.proxy.always(/s3\/credentials/, { lie: (body) => ({ ...(body as S3Credentials), ...changes }) })
    expect(await errorOf(client.s3Credentials(locker))).toBeInstanceOf(UntrueAnswer)
    if (changes.bucket === undefined) expect(await errorOf(client.walletS3Credentials())).toBeInstanceOf(UntrueAnswer)
    testbed.proxy.always(/s3\/keys/, { lie: (body) => ({ ...(body as NewS3Key), ...changes }) })
    if (changes.session_token !== undefined) return
    expect(await errorOf(client.createS3Key(locker, { name: 'a', days: 1 }))).toBeInstanceOf(UntrueAnswer)
    if (changes.bucket !== undefined) return
    expect(await errorOf(client.createWalletS3Key({ name: 'a', days: 1 }))).toBeInstanceOf(UntrueAnswer)
  })
})
