import type { FuzzTarget } from '../target.ts'

export const CONTRACT_TARGETS: FuzzTarget[] = []
