// The rules of the registry's instructions about schemas.

import { getStructDecoder, getU8Decoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { addressBytes, credentials, deriveAddress, makeAccount, schemas, sizedBytes } from './accounts.ts'
import { isFieldType } from './data-layout.ts'
import { ProgramFailure } from './failure.ts'
import {
  listDecoder,
  nameAccounts,
  type Rule,
  readParameters,
  requireAddress,
  requireAuthority,
  requireOwned,
  requireProgram,
  requireSigner,
  requireVacant,
  requireWritable,
} from './instruction.ts'
import { writeData } from './program/effects.ts'

const VERSION = 1

const parametersDecoder = getStructDecoder([
  ['name', sizedBytes()],
  ['description', sizedBytes()],
  ['layout', sizedBytes()],
  ['fieldNames', listDecoder(sizedBytes())],
])

export const createSchema: Rule = ({ accounts, parameters }, { rentFor }) => {
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
    if (!isFieldType(code)) throw new ProgramFailure('InvalidSchemaDataType', `${code} is not a field type`)
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
  return makeAccount(payer, schema, derived, data, rentFor)
}

/** Pauses a schema, or lets it be used again. */
export const changeSchemaStatus: Rule = ({ accounts, parameters }) => {
  const { authority, credential, schema } = nameAccounts(accounts, 'authority', 'credential', 'schema')
  requireSigner(authority)
  requireOwned(credential)
  requireOwned(schema)
  requireWritable(schema)
  const isPaused = readParameters(getU8Decoder(), parameters) === 1
  requireAuthority(authority, credentials.decode(credential).authority)
  const fields = schemas.decode(schema)
  if (fields.credential !== credential.address)
    throw new ProgramFailure('InvalidSchema', `${schema.address} belongs to another credential`)
  return writeData(schema, schemas.encode({ ...fields, isPaused }))
}
