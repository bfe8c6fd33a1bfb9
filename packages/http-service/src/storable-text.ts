// Text that every part behind can keep: well-formed Unicode without NUL. PostgreSQL has no text with a NUL, and a lone
// surrogate has no UTF-8.

import { ValidationError } from './service-error.ts'

export function requireStorableText(value: unknown, loc: [string, ...(string | number)[]]): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new ValidationError({ loc, msg: 'must not contain a NUL character' })
    if (!value.isWellFormed()) throw new ValidationError({ loc, msg: 'must not contain a lone surrogate' })
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) requireStorableText(item, [...loc, i])
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) requireStorableText(item, [...loc, key])
  }
}
