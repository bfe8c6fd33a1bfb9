import type { Address } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { close, create, memo, subjectOf } from './instructions.ts'
import { custom, failedAt, feePaidBy, RENT_OF_ATTESTATION, startTestRegistry } from './registry.ts'

describe('a transaction with registry instructions', () => {
  const registry = forAllTests(() => startTestRegistry())
  const deployment = forAllTests(() => registry.deploy())

  const pay = (destination: Address, amount: bigint) =>
    getTransferSolInstruction({ source: registry.authority, destination, amount })

  it.each([
    ['less than the rent', 2_000_000n, RENT_OF_ATTESTATION],
    ['more than the rent', 5_000_000n, 5_000_000n],
  ])('counts lamports that were sent ahead towards the rent: %s', async (label, amount, expected) => {
    const before = await subjectOf(deployment, `${label}, before`)
    const sameTransaction = await subjectOf(deployment, `${label}, at once`)
    expect((await registry.run([pay(before.attestation, amount)])).err).toBeNull()
    const { err } = await registry.run([
      create(deployment, before),
      pay(sameTransaction.attestation, amount),
      create(deployment, sameTransaction),
    ])
    expect(err).toBeNull()
    for (const { attestation, nonce } of [before, sameTransaction])
      expect(await registry.attestation(attestation)).toMatchObject({ lamports: expected, fields: { nonce } })
  })

  it('reverts its other instructions when the registry refuses one, even after it accepted another', async () => {
    const [first, second] = [await subjectOf(deployment, 'taken'), await subjectOf(deployment, 'refused')]
    const { err, changes, logMessages } = await registry.run([
      pay(registry.attester.address, 1_000_000n),
      memo('hello'),
      create(deployment, first),
      create(deployment, second, { expiry: 1n }),
      memo('never'),
    ])
    expect(err).toEqual(failedAt(3, custom(6)))
    expect(changes).toEqual(feePaidBy(registry.authority))
    expect(logMessages).toContain('Program log: hello')
    expect(logMessages).not.toContain('Program log: never')
    expect(await registry.exists(first.attestation)).toBe(false)
  })

  it('SAS-06 does not change the old attestation when its replacement is refused', async () => {
    const subject = await subjectOf(deployment, 'kept')
    await registry.run([create(deployment, subject)])
    const before = await registry.attestation(subject.attestation)
    const refused = create(deployment, subject, { data: Uint8Array.of(1) })
    const { err, changes } = await registry.run([close(deployment, subject), refused])
    expect(err).toEqual(failedAt(1, 'ProgramFailedToComplete'))
    expect(changes).toEqual(feePaidBy(registry.authority))
    expect(await registry.attestation(subject.attestation)).toEqual(before)
  })

  it('fails when its payer cannot pay the rent after the earlier instructions', async () => {
    const { authority } = registry
    const { value: balance } = await registry.rpc.getBalance(authority.address).send()
    const subject = await subjectOf(deployment, 'poor')
    const { err, changes } = await registry.run([
      pay(registry.attester.address, balance - RENT_OF_ATTESTATION),
      create(deployment, subject),
    ])
    expect(err).toEqual(failedAt(1, custom(1)))
    expect(changes).toEqual(feePaidBy(authority))
  })
})
