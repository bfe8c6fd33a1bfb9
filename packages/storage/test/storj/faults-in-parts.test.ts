import { describeFaults } from './faults.ts'

describeFaults('parted', 65 * 1024 * 1024, true)
