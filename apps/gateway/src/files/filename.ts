import type { InvalidInput, ServiceError } from '@svc/http-service/service-error'
import { filenameProblem } from '@svc/protocol/filename'
import type { Context } from '../context.ts'
import { fileNotFound, invalidUpload } from './errors.ts'

/** Null for a name that is accepted. */
export function filenameObjection(
  { config }: Context,
  filename: string,
  loc: InvalidInput['loc'],
): InvalidInput | null {
  const msg = filenameProblem(filename, config.storage.systemPrefix)
  return msg === null ? null : { loc, msg }
}

/** Of a name that was looked for in vain: those that are there need no rules, whatever the rules were when they came. */
export function noSuchFile(context: Context, filename: string): ServiceError {
  const objection = filenameObjection(context, filename, ['path', 'filename'])
  return objection ? invalidUpload(objection) : fileNotFound(filename)
}
