// Why something cannot be read as an evidence bundle at all, so that there are no facts about it.

export type RefusalCode =
  | 'too_large'
  | 'not_strict_json'
  | 'not_a_bundle'
  | 'unsupported_version'
  | 'empty_file_list'
  | 'bad_file_entry'
  | 'colon_in_filename'
  | 'duplicate_filename'
  | 'unsorted_file_list'

export interface Refusal {
  code: RefusalCode
  why: string
}

/** Thrown while a bundle is read; `verifyBundle` hands it out as a value. */
export class RefusedBundle extends Error {
  override name = 'RefusedBundle'
  readonly code: RefusalCode

  constructor(code: RefusalCode, why: string) {
    super(why)
    this.code = code
  }
}
