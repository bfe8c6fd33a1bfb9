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

describe('the registry', () => {
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
      'SAS-08 refuses an attestation whose signer has not signed',
      'MissingRequiredSignature',
      () => withAccount(creating(), 1, readonly(registry.attester.address)),
    ],
    [
      'SAS-08 refuses an attestation by a signer that is not authorised',
      custom(5),
      () => creating({ authority: stranger }),
    ],
    [
      'refuses an attestation without the system program',
      'IncorrectProgramId',
      () => creating({ systemProgram: ANOTHER_PROGRAM }),
    ],
    [
      'refuses an attestation under a credential that does not exist',
      'InvalidAccountOwner',
      () => creating({ credential: TREASURY.address }),
    ],
    [
      'refuses an attestation under a schema that does not exist',
      'InvalidAccountOwner',
      () => creating({ schema: TREASURY.address }),
    ],
    [
      'refuses an attestation with a schema in place of its credential',
      'InvalidAccountData',
      () => creating({ credential: deployment.schema }),
    ],
    [
      'refuses an attestation with a credential in place of its schema',
      'InvalidAccountData',
      () => creating({ schema: deployment.credential }),
    ],
    [
      'SAS-04 refuses an attestation under the schema of another credential',
      custom(0),
      () => creating({ schema: other.schema }),
    ],
    [
      'SAS-04 refuses an attestation at the address of another nonce',
      custom(2),
      () => creating({ nonce: attested.nonce }),
    ],
    [
      'SAS-07 refuses an attestation that has expired',
      custom(6),
      () => creating({ expiry: BigInt(registry.clock.time / 1_000) - 1n }),
    ],
    ['SAS-07 refuses an attestation that expired before 1970', custom(6), () => creating({ expiry: -1n })],
    [
      'SAS-03 refuses an attestation with one byte too many',
      custom(6),
      () => creating({ data: Uint8Array.of(...record(), 0) }),
    ],
    ['SAS-03 refuses an attestation with one byte too few', custom(6), () => creating({ data: record().slice(0, -1) })],
    [
      'SAS-03 refuses an attestation with its last field missing',
      'ProgramFailedToComplete',
      () => creating({ data: record().slice(0, 144) }),
    ],
    [
      'SAS-03 refuses an attestation with no data',
      'ProgramFailedToComplete',
      () => creating({ data: new Uint8Array() }),
    ],
    ['SAS-06 refuses an attestation that exists', custom(0), () => create(deployment, attested)],
    [
      'refuses an attestation in an account that is not writable',
      'PrivilegeEscalation',
      () => withAccount(creating(), 4, readonly(subject.attestation)),
    ],
    [
      'refuses an attestation whose payer has not signed',
      'PrivilegeEscalation',
      () => withAccount(creating(), 0, writable(stranger.address)),
    ],
    [
      'refuses an attestation with one account too few',
      'NotEnoughAccountKeys',
      () => ({ ...creating(), accounts: creating().accounts!.slice(0, 5) }),
    ],
    [
      'refuses an attestation with one account too many',
      'NotEnoughAccountKeys',
      () => ({ ...creating(), accounts: [...creating().accounts!, readonly(TREASURY.address)] }),
    ],
    [
      'SAS-07 refuses an attestation without its expiry',
      'InvalidInstructionData',
      () => ({ ...creating(), data: creating().data!.slice(0, -1) }),
    ],
    [
      'SAS-07 refuses an attestation without parameters',
      'InvalidInstructionData',
      () => ({ ...creating(), data: Uint8Array.of(6) }),
    ],
  ]

  it.each(creations)('%s', async (_title, expected, build) => {
    await expectRefusal(registry, build(), expected)
    expect(await registry.exists(subject.attestation)).toBe(false)
  })

  const closures: readonly Case[] = [
    [
      'when the signer has not signed',
      'MissingRequiredSignature',
      () => withAccount(closing(), 1, readonly(registry.attester.address)),
    ],
    ['for a signer that is not authorised', custom(5), () => closing({ authority: stranger })],
    ['under another credential', custom(0), () => closing({ credential: other.credential })],
    ['under a credential that does not exist', 'InvalidAccountOwner', () => closing({ credential: TREASURY.address })],
    [
      'with a schema in place of its credential',
      'InvalidAccountData',
      () => closing({ credential: deployment.schema }),
    ],
    ['that does not exist', 'InvalidAccountOwner', () => close(deployment, subject)],
    ['when the account is a schema', 'InvalidAccountData', () => closing({ attestation: deployment.schema })],
    [
      'in an account that is not writable',
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
      'when the payer is not writable',
      'ReadonlyLamportChange',
      () => withAccount(closing(), 0, readonly(TREASURY.address)),
    ],
    [
      'with one account too few',
      'NotEnoughAccountKeys',
      () => ({ ...closing(), accounts: closing().accounts!.slice(0, 6) }),
    ],
  ]

  it.each(closures)('SAS-06 refuses to close an attestation %s', async (_title, expected, build) => {
    const before = await registry.attestation(attested.attestation)
    await expectRefusal(registry, build(), expected)
    expect(await registry.attestation(attested.attestation)).toEqual(before)
  })

  it('SAS-06 SAS-08 refuses to close an attestation that has a token', async () => {
    const tokenised = await subjectOf(deployment, 'tokenised')
    await registry.run([create(deployment, tokenised)])
    const { fields, ...account } = await registry.attestation(tokenised.attestation)
    const data = getAttestationEncoder().encode({ ...fields, tokenAccount: TREASURY.address })
    registry.chain.svm.setAccount({ ...account, data: Uint8Array.from(data) })
    await expectRefusal(registry, close(deployment, tokenised), custom(10))
  })
})
