import { AccountRole, address, type Instruction, type KeyPairSigner } from '@solana/kit'
import { LEGACY_MEMO_PROGRAM_ADDRESS_V3 as ANOTHER_PROGRAM } from '@solana-program/memo'
import { encodeRecord } from '@svc/protocol/registry'
import { getAttestationEncoder } from 'sas-lib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../../src/primary-chain/dev-accounts.ts'
import { signerOf } from '../../../src/primary-chain/dev-client.ts'
import { close, create, type Deployment, type Subject, subjectOf, withAccount } from './instructions.ts'
import { custom, expectRefusal, startTestRegistry, type TestRegistry } from './registry.ts'

const readonly = (text: string) => ({ address: address(text), role: AccountRole.READONLY })
const writable = (text: string) => ({ address: address(text), role: AccountRole.WRITABLE })

describe('attestations that the registry refuses', () => {
  let registry: TestRegistry
  let deployment: Deployment
  let other: Deployment
  let attested: Subject
  let subject: Subject
  let stranger: KeyPairSigner
  beforeAll(async () => {
    registry = await startTestRegistry()
    deployment = await registry.deploy()
    other = await registry.deploy('of the same people')
    stranger = await signerOf(DEMO_PAYERS[3]!)
    attested = await subjectOf(deployment, 'attested')
    subject = await subjectOf(deployment, 'not attested')
    await registry.run([create(deployment, attested)])
  })
  afterAll(() => registry.stop())

  type Case = readonly [title: string, expected: unknown, build: () => Instruction]
  const creating = (changes?: Parameters<typeof create>[2]) => create(deployment, subject, changes)
  const closing = (changes?: Parameters<typeof close>[2]) => close(deployment, attested, changes)
  const record = () => encodeRecord(subject.record)

  const creations: readonly Case[] = [
    [
      'SAS-08 whose signer has not signed',
      'MissingRequiredSignature',
      () => withAccount(creating(), 1, readonly(registry.attester.address)),
    ],
    ['SAS-08 by a signer that is not authorised', custom(5), () => creating({ authority: stranger })],
    ['without the system program', 'IncorrectProgramId', () => creating({ systemProgram: ANOTHER_PROGRAM })],
    ['under a credential that is no account', 'InvalidAccountOwner', () => creating({ credential: TREASURY.address })],
    ['under a schema that is no account', 'InvalidAccountOwner', () => creating({ schema: TREASURY.address })],
    ['under a schema as its credential', 'InvalidAccountData', () => creating({ credential: deployment.schema })],
    ['under a credential as its schema', 'InvalidAccountData', () => creating({ schema: deployment.credential })],
    ['SAS-04 under the schema of another credential', custom(0), () => creating({ schema: other.schema })],
    ['SAS-04 at an address of another nonce', custom(2), () => creating({ nonce: attested.nonce })],
    ['SAS-07 that has expired', custom(6), () => creating({ expiry: BigInt(registry.clock.time / 1_000) - 1n })],
    ['SAS-07 that expired before 1970', custom(6), () => creating({ expiry: -1n })],
    ['SAS-03 with a byte too much', custom(6), () => creating({ data: Uint8Array.of(...record(), 0) })],
    ['SAS-03 with a byte too few', custom(6), () => creating({ data: record().slice(0, -1) })],
    ['SAS-03 with its last field missing', 'ProgramFailedToComplete', () => creating({ data: record().slice(0, 144) })],
    ['SAS-03 with no data', 'ProgramFailedToComplete', () => creating({ data: new Uint8Array() })],
    ['SAS-06 that is there already', custom(0), () => create(deployment, attested)],
    [
      'in an account that is not writable',
      'PrivilegeEscalation',
      () => withAccount(creating(), 4, readonly(subject.attestation)),
    ],
    [
      'at the cost of somebody who has not signed',
      'PrivilegeEscalation',
      () => withAccount(creating(), 0, writable(stranger.address)),
    ],
    [
      'with an account too few',
      'NotEnoughAccountKeys',
      () => ({ ...creating(), accounts: creating().accounts!.slice(0, 5) }),
    ],
    [
      'with an account too many',
      'NotEnoughAccountKeys',
      () => ({ ...creating(), accounts: [...creating().accounts!, readonly(TREASURY.address)] }),
    ],
    [
      'SAS-07 without its expiry',
      'InvalidInstructionData',
      () => ({ ...creating(), data: creating().data!.slice(0, -1) }),
    ],
    ['SAS-07 with nothing to go by', 'InvalidInstructionData', () => ({ ...creating(), data: Uint8Array.of(6) })],
  ]

  it.each(creations)('one %s', async (_title, expected, build) => {
    await expectRefusal(registry, build(), expected)
    expect(await registry.exists(subject.attestation)).toBe(false)
  })

  const closures: readonly Case[] = [
    [
      'whose signer has not signed',
      'MissingRequiredSignature',
      () => withAccount(closing(), 1, readonly(registry.attester.address)),
    ],
    ['by a signer that is not authorised', custom(5), () => closing({ authority: stranger })],
    ['under another credential', custom(0), () => closing({ credential: other.credential })],
    ['under a credential that is no account', 'InvalidAccountOwner', () => closing({ credential: TREASURY.address })],
    ['under a schema as its credential', 'InvalidAccountData', () => closing({ credential: deployment.schema })],
    ['of an attestation that is not there', 'InvalidAccountOwner', () => close(deployment, subject)],
    ['of a schema', 'InvalidAccountData', () => closing({ attestation: deployment.schema })],
    [
      'of an account that is not writable',
      'InvalidAccountData',
      () => withAccount(closing(), 3, readonly(attested.attestation)),
    ],
    ['with another event authority', custom(7), () => closing({ eventAuthority: TREASURY.address })],
    ['without the system program', 'IncorrectProgramId', () => closing({ systemProgram: ANOTHER_PROGRAM })],
    [
      'with another program for the registry',
      'IncorrectProgramId',
      () => closing({ attestationProgram: ANOTHER_PROGRAM }),
    ],
    [
      'whose payer is not writable',
      'ReadonlyLamportChange',
      () => withAccount(closing(), 0, readonly(TREASURY.address)),
    ],
    [
      'with an account too few',
      'NotEnoughAccountKeys',
      () => ({ ...closing(), accounts: closing().accounts!.slice(0, 6) }),
    ],
  ]

  it.each(closures)('SAS-06 a closing %s', async (_title, expected, build) => {
    const before = await registry.attestation(attested.attestation)
    await expectRefusal(registry, build(), expected)
    expect(await registry.attestation(attested.attestation)).toEqual(before)
  })

  it('SAS-06 SAS-08 a closing of an attestation that has a token', async () => {
    const tokenised = await subjectOf(deployment, 'tokenised')
    await registry.run([create(deployment, tokenised)])
    const { fields, ...account } = await registry.attestation(tokenised.attestation)
    const data = getAttestationEncoder().encode({ ...fields, tokenAccount: TREASURY.address })
    registry.chain.svm.setAccount({ ...account, data: Uint8Array.from(data) })
    await expectRefusal(registry, close(deployment, tokenised), custom(10))
  })
})
