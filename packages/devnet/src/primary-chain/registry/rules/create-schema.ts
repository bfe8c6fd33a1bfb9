import { getStructDecoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { credentials, schemas, sizedBytes } from '../accounts.ts'
import { addressBytes, deriveAddress } from '../derived-address.ts'
import { ProgramFailure } from '../failure.ts'
import { listDecoder, nameAccounts, type Rule, readParameters } from '../instruction.ts'
import {
  requireAddress,
  requireAuthority,
  requireOwned,
  requireProgram,
  requireSigner,
  requireVacant,
} from './checks.ts'
import { isFieldType } from './data-layout.ts'
import { makeAccount } from './make-account.ts'

const VERSION = 1

const parametersDecoder = getStructDecoder([
  ['name', sizedBytes()],
  ['description', sizedBytes()],
  ['layout', sizedBytes()],
  ['fieldNames', listDecoder(sizedBytes())],
])

export const createSchema: Rule = ({ accounts, parameters }, surroundings) => {
  const { name, description, layout, fieldNames } = readParameters(parametersDecoder, parameters)
  const named = nameAccounts(accounts, 'payer', 'authority', 'credential', 'schema', 'system')
  const { payer, authority, credential, schema, system } = named
  requireSigner(authority)
  requireOwned(credential)
  requireVacant(schema)
  requireProgram(system, SYSTEM_PROGRAM_ADDRESS)
  requireAuthority(authority, credentials.decode(credential).authority)
  const seeds = [addressBytes(credential.address), Uint8Array.from(name), Uint8Array.of(VERSION)]
  const derived = deriveAddress('schema', ...seeds)
  requireAddress(schema, derived.address, 'InvalidSchema')
  for (const code of layout)
    if (!isFieldType(code)) throw new ProgramFailure('InvalidSchemaDataType', `${code} is no type of a field`)
  if (fieldNames.length !== layout.length)
    throw new ProgramFailure('InvalidSchema', `${layout.length} fields with ${fieldNames.length} names`)
  const data = schemas.encode({
    credential: credential.address,
    name,
    description,
    layout,
    fieldNames: Buffer.concat(fieldNames.map((field) => Uint8Array.from(sizedBytes().encode(field)))),
    isPaused: false,
    version: VERSION,
  })
  return makeAccount(payer, schema, derived, data, surroundings)
}
