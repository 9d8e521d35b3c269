//! Lists of tags of fields that the OMS itself does not use, by what they are about.

use fixwire_protocol::Tag;

/// Fields that say how, when and how much of the order trades.
pub(super) const TERMS: &[Tag] = &[
    18, 62, 110, 111, 126, 152, 168, 192, 193, 210, 336, 386, 423, 465, 468, 469, 516, 625, 640,
    847, 848, 849, 854, 957, 958, 959, 960, 1082, 1083, 1084, 1085, 1086, 1087, 1088, 1089, 1090,
    1091, 1092, 1138,
];

/// Pegged and discretionary prices.
pub(super) const PEGS: &[Tag] = &[
    211, 388, 389, 835, 836, 837, 838, 840, 841, 842, 843, 844, 846, 1094, 1096, 1097, 1098, 1099,
];

/// Triggering instructions.
pub(super) const TRIGGERS: &[Tag] = &[
    1100, 1101, 1102, 1103, 1104, 1105, 1106, 1107, 1108, 1109, 1110, 1111, 1112, 1113, 1114,
];

/// Header and trailer: on behalf of whom, to whom, where, signatures, data.
pub(super) const HEADER: &[Tag] = &[
    50, 57, 89, 90, 91, 93, 115, 116, 128, 129, 142, 143, 144, 145, 212, 213, 347, 370, 627, 628,
    629, 630, 1129, 1156,
];

/// Parties, clients and brokers.
pub(super) const PARTIES: &[Tag] = &[
    76, 109, 439, 440, 447, 448, 452, 453, 523, 524, 525, 538, 539, 545, 802, 803, 804, 805, 1116,
    1117, 1118, 1119, 1120, 1121, 1122, 1461, 1462, 1463, 1464,
];

/// The instrument, except its symbol.
pub(super) const INSTRUMENT: &[Tag] = &[
    22, 48, 65, 106, 107, 200, 201, 202, 205, 206, 207, 223, 224, 225, 226, 227, 228, 231, 239,
    240, 255, 348, 349, 350, 351, 454, 455, 456, 460, 461, 470, 471, 472, 541, 543, 667, 668, 691,
    762, 788, 864, 865, 866, 867, 868, 869, 870, 871, 872, 873, 874, 875, 876, 898, 913, 914, 915,
    916, 917, 918, 919, 947, 965, 966, 967, 968, 969, 970, 971, 996, 997, 1018, 1019, 1049, 1050,
    1051, 1052, 1053, 1054, 1079, 1145, 1146, 1147, 1151, 1184, 1185, 1186, 1191, 1192, 1193, 1194,
    1195, 1196, 1197, 1198, 1199, 1200, 1227, 1242, 1244, 1435, 1439, 1449, 1450, 1451, 1452, 1457,
    1458, 1478, 1479, 1480, 1482, 1483, 1484, 1485, 1486, 1487, 1488, 1489, 1490, 1491, 1492, 1493,
    1494, 1495, 1496,
];

/// Underlying instruments.
pub(super) const UNDERLYINGS: &[Tag] = &[
    241, 242, 243, 244, 245, 246, 247, 256, 305, 306, 307, 308, 309, 310, 311, 312, 313, 315, 316,
    317, 318, 362, 363, 364, 365, 435, 436, 457, 458, 459, 462, 463, 542, 592, 593, 594, 595, 711,
    763, 810, 877, 878, 879, 882, 883, 884, 885, 886, 887, 888, 889, 941, 972, 973, 974, 975, 998,
    1000, 1038, 1039, 1044, 1045, 1046, 1058, 1059, 1060, 1061, 1062, 1063, 1064, 1213, 1419, 1423,
    1424, 1425, 1437, 1441, 1453, 1454, 1455, 1456, 1459, 1460, 1481,
];

/// Legs: the OMS trades a spread by its symbol.
pub(super) const LEGS: &[Tag] = &[
    248, 249, 250, 251, 252, 253, 254, 257, 555, 556, 566, 587, 588, 596, 597, 598, 599, 600, 601,
    602, 603, 604, 605, 606, 607, 608, 609, 610, 611, 612, 613, 614, 615, 616, 617, 618, 619, 620,
    621, 622, 623, 624, 654, 676, 677, 678, 679, 680, 681, 683, 684, 685, 686, 687, 688, 689, 690,
    739, 740, 764, 942, 955, 956, 999, 1001, 1017, 1067, 1068, 1212, 1224, 1358, 1420, 1421, 1422,
    1436, 1440,
];

/// Money, settlement, allocation, yields.
pub(super) const SETTLEMENT: &[Tag] = &[
    12, 13, 15, 63, 64, 70, 75, 78, 79, 80, 81, 118, 120, 121, 156, 158, 159, 203, 204, 218, 220,
    221, 222, 229, 232, 233, 234, 235, 236, 427, 467, 479, 480, 481, 494, 497, 513, 544, 582, 589,
    590, 591, 661, 662, 663, 696, 697, 698, 699, 701, 736, 761, 775,
];

/// Capacity, restrictions, times and desks of regulations.
pub(super) const REGULATION: &[Tag] = &[
    47, 376, 377, 528, 529, 586, 635, 768, 769, 770, 771, 1028, 1029, 1030, 1031, 1032, 1033, 1034,
    1035,
];

/// Identifiers that have no meaning for the OMS, and kinds of accounts.
pub(super) const LABELS: &[Tag] = &[23, 66, 581, 582, 583, 203, 204, 660];

/// On behalf of whom, to whom, and how texts are encoded.
pub(super) const ON_BEHALF: &[Tag] = &[115, 116, 128, 129, 144, 145, 347];

/// Fields that say whose order it is. A cancel or status request of the OMS repeats these fields of its order.
pub(crate) const WHOSE: &[Tag] = &[50, 57, 142, 143, 115, 116, 128, 129, 144, 145, 76, 109, 453];

/// The quantity that the venue shows.
pub(crate) const DISPLAYED: &[Tag] = &[111, 210, 1138];

/// Other names of an instrument, which the file of instruments does not have.
pub(super) const NAMES: &[Tag] = &[65, 106, 107, 454, 455, 456, 460, 461];

/// Algorithms of venues.
pub(super) const ALGORITHMS: &[Tag] = &[847, 848, 849, 957, 958, 959, 960];

/// How a trade is allocated, cleared and paid for.
pub(super) const AFTER_TRADE: &[Tag] = &[
    12, 13, 63, 64, 70, 75, 78, 79, 80, 81, 427, 467, 480, 481, 494, 497, 513, 544, 589, 590, 591,
    661, 736, 775,
];

/// Fields of a venue's report: market, capacity, counterparties, ids, dates, commission and fees of a trade.
pub(super) const EXECUTIONS: &[Tag] = &[
    12, 13, 29, 30, 47, 63, 64, 75, 118, 119, 120, 136, 137, 138, 139, 155, 156, 336, 337, 375,
    381, 382, 437, 438, 479, 483, 527, 528, 529, 574, 582, 625, 655, 828, 829, 851, 880, 891, 1003,
    1040, 1056, 1057, 1115,
];

/// Fields of a venue's report: parties of legs, allocations and single fills.
pub(super) const NESTED_PARTIES: &[Tag] = &[
    756, 757, 758, 759, 760, 806, 807, 948, 949, 950, 951, 952, 953, 954, 1411, 1412, 1413, 1414,
    1415, 1416, 1417,
];

/// Fields of a venue's report that are in no other list.
pub(super) const OF_REPORTS: &[Tag] = &[
    113, 157, 194, 195, 198, 230, 237, 238, 258, 259, 260, 424, 425, 426, 484, 485, 515, 518, 519,
    520, 521, 526, 548, 549, 551, 564, 565, 584, 636, 638, 639, 641, 651, 652, 669, 670, 671, 672,
    673, 674, 675, 738, 797, 811, 839, 845, 850, 893, 911, 912, 920, 921, 922, 943, 961, 1071,
    1073, 1074, 1075, 1093, 1095, 1180, 1181, 1188, 1189, 1190, 1350, 1352, 1361, 1362, 1363, 1364,
    1365, 1366, 1367, 1379, 1380, 1381, 1383, 1384, 1443,
];

/// Quotes, except the prices and sizes of both sides.
pub(super) const QUOTES: &[Tag] = &[
    140, 188, 189, 190, 191, 301, 303, 631, 632, 633, 634, 642, 643, 644, 645, 646, 647, 648, 656,
    657, 692, 693, 695, 735, 1065, 1066, 1166, 1171, 1172, 1445, 1446, 1447, 1448,
];

/// Markets and destinations.
pub(super) const ROUTING: &[Tag] = &[338, 339, 1133, 1300, 1301];

/// Identifiers of other things than orders.
pub(super) const IDS: &[Tag] = &[23, 66, 125, 581, 583, 660, 790, 1433];

/// Free text.
pub(super) const TEXTS: &[Tag] = &[58, 354, 355];

/// Fields that belong to other requests.
pub(super) const ELSEWHERE: &[Tag] = &[
    1, 11, 21, 37, 38, 40, 41, 44, 54, 55, 59, 60, 77, 99, 100, 114, 117, 131, 132, 133, 134, 135,
    146, 167, 263, 295, 298, 324, 335, 432, 526, 530, 537, 584, 585, 1080, 1081, 1182, 1183, 1346,
    1347, 1351, 1355, 5700,
];
