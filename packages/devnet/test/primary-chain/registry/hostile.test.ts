import { AccountRole, address } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { REGISTRY_PROGRAM, registryAddresses } from '@svc/protocol/registry'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TREASURY } from '../../../src/primary-chain/dev-accounts.ts'
import { create, type Deployment, memo, type Subject, subjectOf } from './instructions.ts'
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
})
