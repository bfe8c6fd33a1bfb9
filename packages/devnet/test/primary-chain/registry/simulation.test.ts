import { forAllTests } from '@svc/devnet/for-tests'
import { decodeRecord } from '@svc/protocol/registry'
import { getAttestationDecoder } from 'sas-lib'
import { describe, expect, it } from 'vitest'
import { send } from '../../../src/primary-chain/dev-client.ts'
import { close, create, memo, subjectOf } from './instructions.ts'
import { custom, failedAt, startTestRegistry } from './registry.ts'

describe('the simulation of a registry transaction', () => {
  const registry = forAllTests(() => startTestRegistry())
  const deployment = forAllTests(() => registry.deploy())

  it('SAS-06 returns a replacement or a closed attestation, and does not change the account', async () => {
    const subject = await subjectOf(deployment, 'replaced or closed')
    await registry.run([create(deployment, subject)])
    const before = await registry.attestation(subject.attestation)
    const next = { ...subject, record: { ...subject.record, sequence: 2 } }
    const replacing = await registry.simulate(
      [close(deployment, subject), create(deployment, next)],
      [subject.attestation],
    )
    expect(replacing.err).toBeNull()
    expect(decodeRecord(attestedData(replacing.accounts[0]))).toEqual(next.record)
    const closing = await registry.simulate([close(deployment, subject)], [subject.attestation])
    expect(closing.err).toBeNull()
    expect(closing.accounts).toEqual([null])
    expect(await registry.attestation(subject.attestation)).toEqual(before)
  })

  it('fails like the transaction itself, and so does its preflight', async () => {
    const subject = await subjectOf(deployment, 'refused')
    const refused = [memo('hello'), create(deployment, subject, { expiry: 1n })]
    const { err, logs } = await registry.simulate(refused)
    expect(err).toEqual(failedAt(1, custom(6)))
    expect(logs?.at(-1)).toContain('custom program error: 0x6')
    await expect(send(registry.rpc, registry.authority, refused)).rejects.toMatchObject({
      cause: { context: { index: 1, code: 6 } },
    })
  })
})

function attestedData(account: { readonly data: readonly [string, string] } | null | undefined): Uint8Array {
  if (!account) throw new Error('there is no such account')
  return Uint8Array.from(getAttestationDecoder().decode(Buffer.from(account.data[0], 'base64')).data)
}
