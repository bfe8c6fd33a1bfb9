import type { Address } from '@solana/kit'
import { forAllTests } from '@svc/devnet/for-tests'
import { getChangeAuthorizedSignersInstruction, getChangeSchemaStatusInstruction } from 'sas-lib'
import { describe, expect, it } from 'vitest'
import { TREASURY } from '../../../src/primary-chain/dev-accounts.ts'
import { create, subjectOf } from './instructions.ts'
import { custom, failedAt, startTestRegistry } from './registry.ts'

describe('the administration of the registry', () => {
  const registry = forAllTests(() => startTestRegistry())

  it('can pause a schema and resume it', async () => {
    const other = await registry.deploy('pausing')
    const subject = await subjectOf(other, 'paused')
    const status = (isPaused: boolean) => getChangeSchemaStatusInstruction({ ...other, isPaused })
    expect((await registry.run([status(true)])).err).toBeNull()
    expect((await registry.schema(other.schema)).fields.isPaused).toBe(true)
    expect((await registry.run([create(other, subject)])).err).toEqual(failedAt(0, custom(11)))
    expect((await registry.run([status(false), create(other, subject)])).err).toBeNull()
  })

  it('can extend the list of authorised signers, which costs rent, and shorten it', async () => {
    const other = await registry.deploy('signers')
    const { authority, attester } = registry
    const list = async (signers: Address[]) => {
      const { err } = await registry.run([
        getChangeAuthorizedSignersInstruction({ ...other, payer: authority, signers }),
      ])
      expect(err).toBeNull()
      const { fields, lamports, space } = await registry.credential(other.credential)
      expect(fields.authorizedSigners).toEqual(signers)
      expect(fields.authority).toBe(authority.address)
      return { lamports, rent: registry.chain.svm.minimumBalanceForRentExemption(space) }
    }
    const grown = await list([attester.address, other.credential, other.schema, TREASURY.address])
    expect(grown.lamports).toBe(grown.rent)
    const shrunk = await list([attester.address])
    expect(shrunk.lamports).toBe(grown.lamports)
    const subject = await subjectOf(other, 'signers')
    expect((await registry.run([create(other, subject)])).err).toEqual(failedAt(0, custom(5)))
    expect((await registry.run([create(other, subject, { authority: attester })])).err).toBeNull()
  })
})
