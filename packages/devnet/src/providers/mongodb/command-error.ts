import type { Document } from 'bson'

/** An error answer, as MongoDB words it. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly code: number
  readonly codeName: string
  readonly details: Document

  constructor(code: number, codeName: string, message: string, details: Document = {}) {
    super(message)
    this.code = code
    this.codeName = codeName
    this.details = details
  }

  /** The whole answer, or one entry of `writeErrors`. */
  toDocument(): Document {
    return { code: this.code, codeName: this.codeName, errmsg: this.message, ...this.details }
  }
}
