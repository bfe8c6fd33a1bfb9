import { AccountRole, address, type Instruction, type KeyPairSigner } from '@solana/kit'
import { LEGACY_MEMO_PROGRAM_ADDRESS_V3 as ANOTHER_PROGRAM } from '@solana-program/memo'
import { getChangeAuthorizedSignersInstruction, getChangeSchemaStatusInstruction } from 'sas-lib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../../src/primary-chain/dev-accounts.ts'
import { signerOf } from '../../../src/primary-chain/dev-client.ts'
import {
  close,
  createCredential,
  createSchema,
  type Deployment,
  deploymentOf,
  subjectOf,
  withAccount,
} from './instructions.ts'
import { custom, expectRefusal, startTestRegistry, type TestRegistry } from './registry.ts'

const readonly = (text: string) => ({ address: address(text), role: AccountRole.READONLY })
const cutShort = (instruction: Instruction, by = 1) => ({ ...instruction, data: instruction.data!.slice(0, -by) })

describe('the registry', () => {
  let registry: TestRegistry
  let made: Deployment
  let other: Deployment
  let withoutSchema: Deployment
  let unmade: Deployment
  let stranger: KeyPairSigner
  beforeAll(async () => {
    registry = await startTestRegistry()
    made = await registry.deploy()
    other = await registry.deploy('of the same people')
    withoutSchema = await deploymentOf(registry.authority, 'without a schema')
    unmade = await deploymentOf(registry.authority, 'not made yet')
    stranger = await signerOf(DEMO_PAYERS[3]!)
    await registry.run([createCredential(withoutSchema)])
  })
  afterAll(() => registry.stop())

  type Case = readonly [title: string, expected: unknown, build: () => Instruction]
  const credential = (changes?: Parameters<typeof createCredential>[1]) => createCredential(unmade, changes)
  const schema = (changes?: Parameters<typeof createSchema>[1]) => createSchema(withoutSchema, changes)
  const signers = (changes = {}) =>
    getChangeAuthorizedSignersInstruction({ ...made, payer: registry.authority, signers: [], ...changes })
  const pause = (changes = {}) => getChangeSchemaStatusInstruction({ ...made, isPaused: true, ...changes })

  const creations: readonly Case[] = [
    ['a credential that exists', 'InvalidAccountOwner', () => createCredential(made)],
    ['a credential under another name', custom(0), () => credential({ name: 'another' })],
    ['a credential of another authority', custom(0), () => credential({ authority: stranger })],
    [
      'a credential whose name is not a valid seed',
      'ProgramFailedToComplete',
      () => credential({ name: 'n'.repeat(33) }),
    ],
    [
      'a credential whose authority has not signed',
      'MissingRequiredSignature',
      () => withAccount(credential(), 2, readonly(stranger.address)),
    ],
    [
      'a credential in an account that is not writable',
      'InvalidAccountData',
      () => withAccount(credential(), 1, readonly(unmade.credential)),
    ],
    ['a credential whose list of signers is incomplete', 'InvalidInstructionData', () => cutShort(credential())],
    ['a credential without a list of signers', 'InvalidInstructionData', () => cutShort(credential(), 36)],
    [
      'a credential without the system program',
      'IncorrectProgramId',
      () => credential({ systemProgram: ANOTHER_PROGRAM }),
    ],
    ['a schema that exists', 'InvalidAccountOwner', () => createSchema(made)],
    ['a schema under another name', custom(1), () => schema({ name: 'another' })],
    [
      'a schema whose authority has not signed',
      'MissingRequiredSignature',
      () => withAccount(schema(), 1, readonly(stranger.address)),
    ],
    ['a schema without the system program', 'IncorrectProgramId', () => schema({ systemProgram: ANOTHER_PROGRAM })],
    ['a schema by another authority', 'IncorrectAuthority', () => schema({ authority: stranger })],
    ['a schema without a credential', 'InvalidAccountOwner', () => createSchema(unmade)],
    ['a schema with an unknown type', custom(4), () => schema({ layout: Uint8Array.of(26), fieldNames: ['x'] })],
    ['a schema with too few names', custom(1), () => schema({ layout: Uint8Array.of(0, 0), fieldNames: ['x'] })],
    ['a schema whose names are incomplete', 'InvalidInstructionData', () => cutShort(schema())],
  ]

  it.each(creations)('SAS-01 SAS-04 refuses to create %s', async (_title, expected, build) => {
    await expectRefusal(registry, build(), expected)
    expect(await registry.exists(unmade.credential)).toBe(false)
    expect(await registry.exists(withoutSchema.schema)).toBe(false)
  })

  const changes: readonly Case[] = [
    ['new signers by another authority', 'IncorrectAuthority', () => signers({ authority: stranger })],
    [
      'new signers without the signature of the authority',
      'MissingRequiredSignature',
      () => withAccount(signers(), 1, readonly(stranger.address)),
    ],
    ['new signers without the system program', 'IncorrectProgramId', () => signers({ systemProgram: ANOTHER_PROGRAM })],
    [
      'new signers for an account that is not a credential',
      'InvalidAccountOwner',
      () => signers({ credential: TREASURY.address }),
    ],
    ['new signers for a schema', 'InvalidAccountData', () => signers({ credential: made.schema })],
    [
      'new signers in an account that is not writable',
      'InvalidAccountData',
      () => withAccount(signers(), 2, readonly(made.credential)),
    ],
    ['an incomplete list of new signers', 'InvalidInstructionData', () => cutShort(signers())],
    ['a change of signers without a list', 'InvalidInstructionData', () => cutShort(signers(), 4)],
    [
      'a list of more signers than there are bytes',
      'InvalidInstructionData',
      () => ({ ...signers(), data: Uint8Array.of(3, 255, 255, 255, 255) }),
    ],
    ['a pause without a credential', 'InvalidAccountOwner', () => pause({ credential: TREASURY.address })],
    ['a pause of an account that is not a schema', 'InvalidAccountOwner', () => pause({ schema: TREASURY.address })],
    [
      'a pause of an account that is not writable',
      'InvalidAccountData',
      () => withAccount(pause(), 2, readonly(made.schema)),
    ],
    ['a pause by another authority', 'IncorrectAuthority', () => pause({ authority: stranger })],
    ['a pause of the schema of another credential', custom(1), () => pause({ schema: other.schema })],
    [
      'a pause without the signature of the authority',
      'MissingRequiredSignature',
      () => withAccount(pause(), 0, readonly(stranger.address)),
    ],
    ['a pause without the new state', 'InvalidInstructionData', () => cutShort(pause())],
  ]

  it.each(changes)('refuses %s', async (_title, expected, build) => {
    const before = [await registry.credential(made.credential), await registry.schema(made.schema)]
    await expectRefusal(registry, build(), expected)
    expect([await registry.credential(made.credential), await registry.schema(made.schema)]).toEqual(before)
  })

  it.each([4, 5, 8, 9, 10, 11, 228, 255])('refuses the unknown instruction %i', async (number) => {
    const instruction = close(made, await subjectOf(made, 'unknown'))
    const logs = await expectRefusal(registry, { ...instruction, data: Uint8Array.of(number) }, custom(1000))
    expect(logs).toContain(`Program log: the local registry does not know instruction ${number}`)
  })

  it('refuses an instruction without data or without accounts', async () => {
    const { programAddress } = credential()
    await expectRefusal(registry, { programAddress }, 'InvalidInstructionData')
    await expectRefusal(registry, { programAddress, data: Uint8Array.of(7) }, 'NotEnoughAccountKeys')
  })
})
