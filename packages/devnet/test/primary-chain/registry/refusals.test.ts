import { AccountRole, address, type Instruction, type KeyPairSigner } from '@solana/kit'
import { LEGACY_MEMO_PROGRAM_ADDRESS_V3 as ANOTHER_PROGRAM } from '@solana-program/memo'
import { encodeRecord } from '@svc/protocol/registry'
import { getAttestationEncoder, getChangeAuthorizedSignersInstruction, getChangeSchemaStatusInstruction } from 'sas-lib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../../src/primary-chain/dev-accounts.ts'
import { signerOf } from '../../../src/primary-chain/dev-client.ts'
import {
  close,
  create,
  createCredential,
  createSchema,
  type Deployment,
  deploymentOf,
  memo,
  type Subject,
  subjectOf,
  withAccount,
} from './instructions.ts'
import { custom, failedAt, startTestRegistry, type TestRegistry } from './registry.ts'

const readonly = (text: string) => ({ address: address(text), role: AccountRole.READONLY })
const writable = (text: string) => ({ address: address(text), role: AccountRole.WRITABLE })
const cutShort = (instruction: Instruction, by = 1) => ({ ...instruction, data: instruction.data!.slice(0, -by) })

describe('the registry', () => {
  let registry: TestRegistry
  let made: Deployment
  let other: Deployment
  let withoutSchema: Deployment
  let unmade: Deployment
  let attested: Subject
  let subject: Subject
  let outsider: KeyPairSigner
  beforeAll(async () => {
    registry = await startTestRegistry()
    made = await registry.deploy()
    other = await registry.deploy('of the same people')
    withoutSchema = await deploymentOf(registry.authority, 'without a schema')
    unmade = await deploymentOf(registry.authority, 'not made yet')
    attested = await subjectOf(made, 'attested')
    subject = await subjectOf(made, 'not attested')
    outsider = await signerOf(DEMO_PAYERS[3]!)
    await registry.run([createCredential(withoutSchema), create(made, attested)])
  })
  afterAll(() => registry.stop())

  const credential = (changes?: Parameters<typeof createCredential>[1]) => createCredential(unmade, changes)
  const schema = (changes?: Parameters<typeof createSchema>[1]) => createSchema(withoutSchema, changes)
  const signers = (changes = {}) =>
    getChangeAuthorizedSignersInstruction({ ...made, payer: registry.authority, signers: [], ...changes })
  const pause = (changes = {}) => getChangeSchemaStatusInstruction({ ...made, isPaused: true, ...changes })
  const creating = (changes?: Parameters<typeof create>[2]) => create(made, subject, changes)
  const closing = (changes?: Parameters<typeof close>[2]) => close(made, attested, changes)
  const record = () => encodeRecord(subject.record)
  const { address: attester } = DEMO_PAYERS[0]!
  const { address: noOne } = TREASURY

  type Case = readonly [title: string, expected: unknown, build: () => Instruction]
  const cases: readonly Case[] = [
    ['SAS-01 a credential that exists', 'InvalidAccountOwner', () => createCredential(made)],
    ['SAS-01 SAS-04 a credential under another name', custom(0), () => credential({ name: 'another' })],
    ['SAS-01 SAS-04 a credential of another authority', custom(0), () => credential({ authority: outsider })],
    ['a credential with a name too long', 'ProgramFailedToComplete', () => credential({ name: 'n'.repeat(33) })],
    ['a credential unsigned', 'MissingRequiredSignature', () => withAccount(credential(), 2, readonly(attester))],
    ['a credential with an incomplete list of signers', 'InvalidInstructionData', () => cutShort(credential())],
    ['a credential without a list of signers', 'InvalidInstructionData', () => cutShort(credential(), 36)],
    ['SAS-01 a schema that exists', 'InvalidAccountOwner', () => createSchema(made)],
    ['SAS-01 SAS-04 a schema under another name', custom(1), () => schema({ name: 'another' })],
    ['a schema whose authority has not signed', 'MissingRequiredSignature', () => unsigned(schema())],
    ['a schema by another authority', 'IncorrectAuthority', () => schema({ authority: outsider })],
    ['a schema without a credential', 'InvalidAccountOwner', () => createSchema(unmade)],
    ['a schema with an unknown type', custom(4), () => schema({ layout: Uint8Array.of(26), fieldNames: ['x'] })],
    ['a schema with too few names', custom(1), () => schema({ layout: Uint8Array.of(0, 0), fieldNames: ['x'] })],
    ['new signers by another authority', 'IncorrectAuthority', () => signers({ authority: outsider })],
    ['new signers whose authority has not signed', 'MissingRequiredSignature', () => unsigned(signers())],
    ['a pause by another authority', 'IncorrectAuthority', () => pause({ authority: outsider })],
    ['a pause of the schema of another credential', custom(1), () => pause({ schema: other.schema })],
    ['SAS-08 an attestation whose signer has not signed', 'MissingRequiredSignature', () => unsigned(creating())],
    ['SAS-08 an attestation by a signer without rights', custom(5), () => creating({ authority: outsider })],
    ['an attestation without a credential', 'InvalidAccountOwner', () => creating({ credential: noOne })],
    ['an attestation without a schema', 'InvalidAccountOwner', () => creating({ schema: noOne })],
    ['an attestation under a schema only', 'InvalidAccountData', () => creating({ credential: made.schema })],
    ['an attestation under a credential only', 'InvalidAccountData', () => creating({ schema: made.credential })],
    ['SAS-04 an attestation under a foreign schema', custom(0), () => creating({ schema: other.schema })],
    ['SAS-04 an attestation at the address of another nonce', custom(2), () => creating({ nonce: attested.nonce })],
    ['SAS-07 an expired attestation', custom(6), () => creating({ expiry: BigInt(registry.clock.time / 1_000) - 1n })],
    ['SAS-07 an attestation that expired before 1970', custom(6), () => creating({ expiry: -1n })],
    ['SAS-03 a record with a byte too many', custom(6), () => creating({ data: Uint8Array.of(...record(), 0) })],
    ['SAS-03 a record with a byte too few', custom(6), () => creating({ data: record().slice(0, -1) })],
    ['SAS-03 no record', 'ProgramFailedToComplete', () => creating({ data: new Uint8Array() })],
    ['SAS-06 an attestation that exists', custom(0), () => create(made, attested)],
    ['an unpaid attestation', 'PrivilegeEscalation', () => withAccount(creating(), 0, writable(outsider.address))],
    ['an account too few', 'NotEnoughAccountKeys', () => withAccounts(creating().accounts!.slice(0, 5))],
    ['an account too many', 'NotEnoughAccountKeys', () => withAccounts([...creating().accounts!, readonly(noOne)])],
    ['SAS-07 an attestation without its expiry', 'InvalidInstructionData', () => cutShort(creating())],
    ['SAS-06 an unsigned closure', 'MissingRequiredSignature', () => unsigned(closing())],
    ['SAS-06 a closure by a signer without rights', custom(5), () => closing({ authority: outsider })],
    ['SAS-06 a closure under another credential', custom(0), () => closing({ credential: other.credential })],
    ['SAS-06 a closure of no attestation', 'InvalidAccountOwner', () => close(made, subject)],
    ['SAS-06 a closure of a schema', 'InvalidAccountData', () => closing({ attestation: made.schema })],
    ['SAS-06 a closure with another event authority', custom(7), () => closing({ eventAuthority: noOne })],
    ['SAS-06 another program', 'IncorrectProgramId', () => closing({ attestationProgram: ANOTHER_PROGRAM })],
    ['SAS-06 a payer only read', 'ReadonlyLamportChange', () => withAccount(closing(), 0, readonly(noOne))],
    ['no data', 'InvalidInstructionData', () => ({ programAddress: closing().programAddress })],
    ['an unknown instruction', custom(1000), () => ({ ...closing(), data: Uint8Array.of(4) })],
  ]
  const unsigned = (instruction: Instruction) => withAccount(instruction, 1, readonly(attester))
  const withAccounts = (accounts: NonNullable<Instruction['accounts']>) => ({ ...creating(), accounts })

  it.each(cases)('%s is refused, and only the fee is charged', async (_title, cause, build) => {
    const look = async () => [
      await registry.credential(made.credential),
      await registry.schema(made.schema),
      await registry.attestation(attested.attestation),
    ]
    const before = await look()
    const { err, fee, changes } = await registry.run([memo('rolled back'), build()])
    expect(err).toEqual(failedAt(1, cause))
    expect(changes).toEqual({ [registry.authority.address]: -fee })
    expect(await look()).toEqual(before)
    for (const account of [unmade.credential, withoutSchema.schema, subject.attestation])
      expect(await registry.exists(account)).toBe(false)
  })

  it('refuses attestations while their schema is paused', async () => {
    const deployment = await registry.deploy('pausing')
    const status = (isPaused: boolean) => getChangeSchemaStatusInstruction({ ...deployment, isPaused })
    const attest = create(deployment, await subjectOf(deployment, 'paused'))
    expect((await registry.run([status(true), attest])).err).toEqual(failedAt(1, custom(11)))
    expect((await registry.run([status(true), status(false), attest])).err).toBeNull()
  })

  it('SAS-06 SAS-08 refuses to close an attestation that has a token', async () => {
    const tokenised = await subjectOf(made, 'tokenised')
    await registry.run([create(made, tokenised)])
    const { fields, ...account } = await registry.attestation(tokenised.attestation)
    const data = getAttestationEncoder().encode({ ...fields, tokenAccount: TREASURY.address })
    registry.chain.svm.setAccount({ ...account, data: Uint8Array.from(data) })
    expect((await registry.run([close(made, tokenised)])).err).toEqual(failedAt(0, custom(10)))
  })
})
