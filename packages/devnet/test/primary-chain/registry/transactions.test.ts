import { AccountRole, type Address, address, type EncodedAccount, getAddressEncoder, lamports } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { REGISTRY } from '../../../src/primary-chain/registry/accounts.ts'
import { exit } from '../../../src/primary-chain/registry/program/assembler.ts'
import { elfOf } from '../../../src/primary-chain/registry/program/elf.ts'
import { invoke } from '../../../src/primary-chain/registry/program/invoke.ts'
import { LOOKUP_TABLE_PROGRAM } from '../../../src/primary-chain/timeline.ts'
import { close, create, createCredential, createSchema, deploymentOf, memo, subjectOf } from './instructions.ts'
import { custom, failedAt, feePaidBy, RENT_OF_ATTESTATION, startTestRegistry } from './registry.ts'

describe('a transaction with registry instructions', () => {
  const registry = forAllTests(() => startTestRegistry())
  const deployment = forAllTests(() => registry.deploy())

  const pay = (destination: Address, amount: bigint) =>
    getTransferSolInstruction({ source: registry.authority, destination, amount })

  it('can create a credential, its schema and an attestation', async () => {
    const fresh = await deploymentOf(registry.authority, 'all at once')
    const subject = await subjectOf(fresh, 'all at once')
    const { err } = await registry.run([createCredential(fresh), createSchema(fresh), create(fresh, subject)])
    expect(err).toBeNull()
    expect((await registry.attestation(subject.attestation)).fields.credential).toBe(fresh.credential)
  })

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

  it('reverts its registry instructions when a later instruction fails', async () => {
    const subject = await subjectOf(deployment, 'undone')
    const tooMuch = pay(registry.attester.address, 10n ** 15n)
    const { err, changes } = await registry.run([memo('hello'), create(deployment, subject), tooMuch])
    expect(err).toEqual(failedAt(2, custom(1)))
    expect(changes).toEqual(feePaidBy(registry.authority))
    expect(await registry.exists(subject.attestation)).toBe(false)
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

  it('fails when another program calls the stand-in of the registry', async () => {
    const caller = address('CaLLer1111111111111111111111111111111111111')
    const invocation = invoke({ program: REGISTRY, accounts: [], data: Uint8Array.of(7) })
    registry.chain.svm.addProgram(caller, elfOf([...invocation, ...exit(0n)]))
    const subject = await subjectOf(deployment, 'before the call')
    const call = { programAddress: caller, accounts: [{ address: REGISTRY, role: AccountRole.READONLY }] }
    const { err, changes } = await registry.run([create(deployment, subject), call])
    expect(err).toEqual(failedAt(1, custom(1000)))
    expect(changes).toEqual(feePaidBy(registry.authority))
  })

  it('can load its accounts from a lookup table, and can be a legacy transaction', async () => {
    const [first, second] = [await subjectOf(deployment, 'table'), await subjectOf(deployment, 'legacy')]
    const table = address('TabLe11111111111111111111111111111111111111')
    const addresses = [deployment.credential, deployment.schema, first.attestation]
    registry.chain.svm.setAccount(lookupTable(table, addresses))
    const lookedUp = await registry.run([create(deployment, first)], { lookupTables: { [table]: addresses } })
    expect(lookedUp.err).toBeNull()
    expect(lookedUp.changes[first.attestation]).toBe(RENT_OF_ATTESTATION)
    expect((await registry.attestation(first.attestation)).fields.nonce).toBe(first.nonce)
    expect((await registry.run([create(deployment, second)], { version: 'legacy' })).err).toBeNull()
    expect((await registry.attestation(second.attestation)).fields.nonce).toBe(second.nonce)
  })
})

/** A lookup table that was created long ago. */
function lookupTable(at: Address, addresses: readonly Address[]): EncodedAccount {
  const header = Buffer.alloc(56)
  header.writeUInt32LE(1, 0)
  header.writeBigUInt64LE(2n ** 64n - 1n, 4)
  const entries = addresses.map((entry) => Uint8Array.from(getAddressEncoder().encode(entry)))
  const data = new Uint8Array(Buffer.concat([header, ...entries]))
  const account = { address: at, programAddress: LOOKUP_TABLE_PROGRAM, executable: false, data }
  return { ...account, lamports: lamports(1_000_000_000n), space: BigInt(data.length) }
}
