// Pages that explain the error codes.

import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { ERROR_STATUS, type ErrorCode } from './errors.ts'
import { Words } from './wire.ts'

const open = {
  method: 'GET',
  auth: 'public',
  responses: { 200: Type.String() },
  contentType: 'text/plain; charset=utf-8',
  headers: { 'cache-control': 'public, max-age=300', vary: 'accept' },
} as const

export const errorList = endpoint({
  ...open,
  name: 'errorList',
  path: '/errors',
  summary: 'Every error code with its cause and the next step, as text, or as a page for browsers (text/html)',
})

export const errorExplained = endpoint({
  ...open,
  name: 'errorExplained',
  path: '/errors/{code}',
  summary: 'One error code; every error links to its own page in docs_url',
  params: Type.Object({ code: Words(Object.keys(ERROR_STATUS) as ErrorCode[]) }),
  errors: ['validation_error'],
})

/** The page about a code at the service with this base URL. */
export function errorUrl(baseUrl: string, code: ErrorCode): string {
  return baseUrl + errorExplained.path.replace('{code}', code)
}
