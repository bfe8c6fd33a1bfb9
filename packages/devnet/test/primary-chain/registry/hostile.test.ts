import { AccountRole, address, getBase64EncodedWireTransaction } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { REGISTRY_PROGRAM, registryAddresses } from '@svc/protocol/registry'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TREASURY } from '../../../src/primary-chain/dev-accounts.ts'
import { call, sign } from '../../../src/primary-chain/dev-client.ts'
import { close, create, type Deployment, memo, type Subject, subjectOf } from './instructions.ts'
import { startTestRegistry, type TestRegistry } from './registry.ts'

describe('hostile instructions', () => {
  let registry: TestRegistry
  let deployment: Deployment
  let attested: Subject
  beforeAll(async () => {
    registry = await startTestRegistry()
    deployment = await registry.deploy()
    attested = await subjectOf(deployment, 'attested')
    await registry.run([create(deployment, attested)])
  })
  afterAll(() => registry.stop())

  it('are refused with any bytes and any accounts when the authority has not signed', async () => {
    const { credential, schema, eventAuthority } = registryAddresses(registry.authority.address)
    const data = [credential, schema, eventAuthority, attested.attestation, TREASURY.address]
    const anyRole = fc.constantFrom(AccountRole.READONLY, AccountRole.WRITABLE)
    const anyAccount = fc.oneof(
      fc.record({ address: fc.constantFrom(...data.map((text) => address(text))), role: anyRole }),
      fc
        .constantFrom(SYSTEM_PROGRAM_ADDRESS, address(REGISTRY_PROGRAM))
        .map((program) => ({ address: program, role: AccountRole.READONLY })),
    )
    const anyAccounts = fc.array(anyAccount, { minLength: 3, maxLength: 7 })
    const anyBytes = fc.uint8Array({ maxLength: 120 })
    const before = await registry.attestation(attested.attestation)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0, 1, 2, 3, 6, 7, 9), anyBytes, anyAccounts, async (number, rest, accounts) => {
        const programAddress = address(REGISTRY_PROGRAM)
        const instruction = { programAddress, accounts, data: Uint8Array.of(number, ...rest) }
        const { err, fee, changes } = await registry.run([memo('hostile'), instruction])
        expect(err).not.toBeNull()
        expect(changes).toEqual({ [registry.authority.address]: -fee })
      }),
      { numRuns: 25 },
    )
    expect(await registry.attestation(attested.attestation)).toEqual(before)
  })

  it('are executed completely or not at all when one byte of them is changed', { tags: ['nightly'] }, async () => {
    const subject = await subjectOf(deployment, 'one byte')
    const instruction = create(deployment, subject)
    const anyFlip = fc.tuple(fc.nat(instruction.data!.length - 1), fc.integer({ min: 1, max: 255 }))
    await fc.assert(
      fc.asyncProperty(anyFlip, async ([at, flip]) => {
        const data = Uint8Array.from(instruction.data!)
        data[at]! ^= flip
        const { err, fee, changes } = await registry.run([{ ...instruction, data }])
        expect(await registry.exists(subject.attestation)).toBe(err === null)
        if (err !== null) expect(changes).toEqual({ [registry.authority.address]: -fee })
        else expect((await registry.run([close(deployment, subject)])).err).toBeNull()
      }),
      { numRuns: 25 },
    )
  })

  it('never cause an internal error when any byte of their transaction is changed', { tags: ['nightly'] }, async () => {
    const instructions = [memo('hello'), close(deployment, attested), create(deployment, attested)]
    const transaction = await sign(registry.rpc, registry.authority, instructions)
    const good = Buffer.from(getBase64EncodedWireTransaction(transaction), 'base64')
    const simulate = (bytes: Buffer) =>
      call(registry.url, 'simulateTransaction', [
        bytes.toString('base64'),
        { encoding: 'base64', replaceRecentBlockhash: true },
      ])
    expect((await simulate(good)).result).toMatchObject({ value: { err: null } })
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.nat(255), async (at, byte) => {
        const { error } = await simulate(Buffer.from(good.with(at, byte)))
        expect(error?.code).not.toBe(-32603)
      }),
      { numRuns: 50 },
    )
  })
})
