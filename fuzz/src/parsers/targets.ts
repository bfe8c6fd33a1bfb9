import type { FuzzTarget } from '../target.ts'

export const PARSER_TARGETS: FuzzTarget[] = []
