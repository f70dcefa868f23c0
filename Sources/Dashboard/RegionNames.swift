// The names and codes by which providers call regions.

/// Names in Chinese and English, and codes in capitals.
enum RegionNames {
    struct Entry {
        /// Lower-case UTF-8.
        let name: [UInt8]
        let code: String
        /// Names in letters must stand alone; Chinese ones need not.
        let isLatin: Bool
    }

    static let all: [Entry] = table.flatMap { code, names in
        names.split(separator: ",").map { name in
            Entry(name: Array(name.utf8), code: code, isLatin: name.utf8.allSatisfy { $0 < 0x80 })
        }
    }

    /// Codes that may stand for a region when written alone in capitals. Those which are English words in capitals too
    /// (IN, IT, NO, …), or units (GB), are left out: a guess is worse than no flag.
    static let codes: [String: String] = {
        var codes: [String: String] = [:]
        for (code, _) in table where !ambiguous.contains(code) { codes[code] = code }
        codes["UK"] = "GB"
        codes["USA"] = "US"
        codes["UAE"] = "AE"
        codes["HKG"] = "HK"
        codes["JPN"] = "JP"
        codes["SGP"] = "SG"
        codes["TWN"] = "TW"
        codes["KOR"] = "KR"
        return codes
    }()

    private static let ambiguous: Set<String> = [
        "GB", "IN", "IT", "NO", "BE", "IS", "AM", "AT", "ID", "PM", "TV", "TO", "SO",
    ]

    private static let table: [(String, String)] = [
        ("HK", "香港,hong kong,hongkong"), ("TW", "台湾,台灣,臺灣,台北,taiwan,taipei"),
        ("MO", "澳门,澳門,macau,macao"), ("CN", "中国,中國,大陆,回国,上海,北京,广州,深圳,china"),
        ("JP", "日本,东京,東京,大阪,japan,tokyo,osaka"), ("KR", "韩国,韓國,首尔,春川,korea,seoul"),
        ("SG", "新加坡,狮城,獅城,singapore"),
        (
            "US",
            "美国,美國,洛杉矶,圣何塞,硅谷,西雅图,纽约,芝加哥,达拉斯,凤凰城,united states,america,los angeles,san jose,"
                + "silicon valley,seattle,new york,chicago,dallas"
        ),
        ("CA", "加拿大,多伦多,温哥华,canada,toronto,vancouver"), ("MX", "墨西哥,mexico"),
        ("BR", "巴西,圣保罗,brazil,sao paulo"), ("AR", "阿根廷,argentina"), ("CL", "智利,chile"),
        ("CO", "哥伦比亚,colombia"), ("PE", "秘鲁,peru"),
        ("GB", "英国,英國,伦敦,united kingdom,britain,england,london"), ("IE", "爱尔兰,ireland,dublin"),
        ("DE", "德国,德國,法兰克福,germany,frankfurt"), ("FR", "法国,法國,巴黎,france,paris"),
        ("NL", "荷兰,荷蘭,阿姆斯特丹,netherlands,amsterdam"), ("BE", "比利时,belgium"), ("LU", "卢森堡,luxembourg"),
        ("CH", "瑞士,switzerland,zurich"), ("AT", "奥地利,austria,vienna"), ("IT", "意大利,米兰,italy,milan"),
        ("ES", "西班牙,马德里,spain,madrid"), ("PT", "葡萄牙,portugal"), ("SE", "瑞典,sweden,stockholm"),
        ("NO", "挪威,norway"), ("FI", "芬兰,finland,helsinki"), ("DK", "丹麦,denmark"), ("IS", "冰岛,iceland"),
        ("PL", "波兰,poland,warsaw"), ("CZ", "捷克,czech"), ("HU", "匈牙利,hungary"), ("RO", "罗马尼亚,romania"),
        ("BG", "保加利亚,bulgaria"), ("GR", "希腊,greece"), ("UA", "乌克兰,ukraine"),
        ("RU", "俄罗斯,俄羅斯,莫斯科,伯力,russia,moscow"), ("LT", "立陶宛,lithuania"), ("LV", "拉脱维亚,latvia"),
        ("EE", "爱沙尼亚,estonia"), ("MD", "摩尔多瓦,moldova"), ("TR", "土耳其,伊斯坦布尔,turkey,türkiye,istanbul"),
        ("AE", "阿联酋,迪拜,emirates,dubai"), ("SA", "沙特,saudi"), ("IL", "以色列,israel"), ("EG", "埃及,egypt"),
        ("ZA", "南非,south africa"), ("NG", "尼日利亚,nigeria"), ("KE", "肯尼亚,kenya"),
        ("IN", "印度,孟买,india,mumbai"), ("PK", "巴基斯坦,pakistan"), ("BD", "孟加拉,bangladesh"),
        ("TH", "泰国,泰國,曼谷,thailand,bangkok"), ("VN", "越南,胡志明,河内,vietnam"),
        ("MY", "马来西亚,馬來西亞,吉隆坡,malaysia"), ("ID", "印度尼西亚,印尼,雅加达,indonesia,jakarta"),
        ("PH", "菲律宾,菲律賓,马尼拉,philippines,manila"), ("KH", "柬埔寨,cambodia"), ("LA", "老挝,laos"),
        ("MM", "缅甸,myanmar"), ("MN", "蒙古,mongolia"), ("KZ", "哈萨克斯坦,kazakhstan"), ("NP", "尼泊尔,nepal"),
        ("AU", "澳大利亚,澳洲,悉尼,墨尔本,australia,sydney,melbourne"), ("NZ", "新西兰,new zealand"),
        ("AQ", "南极,antarctica"),
    ]
}
