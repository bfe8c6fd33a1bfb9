// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Erc20.sol";

contract Usdt0 is Erc20 {
    function name() public pure override returns (string memory) {
        return "USDT0";
    }

    function symbol() external pure override returns (string memory) {
        return "USDT0";
    }

    function decimals() external pure override returns (uint8) {
        return 6;
    }
}
