import { describeFaults } from './test-faults.ts'

describeFaults('parted', 65 * 1024 * 1024, true)
