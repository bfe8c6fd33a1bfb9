import { getU8Decoder } from '@solana/kit'
import { credentials, schemas } from '../accounts.ts'
import { ProgramFailure } from '../failure.ts'
import { nameAccounts, type Rule, readParameters } from '../instruction.ts'
import { writeData } from '../program/effects.ts'
import { requireAuthority, requireOwned, requireSigner, requireWritable } from './checks.ts'

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
