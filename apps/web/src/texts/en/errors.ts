// The pages about error codes.

import { common } from './common.ts'

export const texts = {
  title: 'Error codes',
  lead: 'Every error names one of these codes, with its own message and hint.',
  search: 'Find a code or a word',
  found: (codes: number) => common.counted(codes, 'code'),
  status: (status: number) => `HTTP ${status}`,
  cause: 'Cause',
  next: 'What to do',
  all: 'All error codes',
  unknown: 'No such error code',
  unknownText: 'This gateway has no error with this code.',
}
